"""The processor time of bots that are not asked, in words."""

from collections.abc import Iterator, Mapping
from typing import Final

from asara_server.cli.display.quantities import count, duration
from asara_server.text import plain
from asara_server.tournament.run.processor_time import ProcessorTime

_NAMED: Final = 5


def unasked_lines(times: Mapping[str, ProcessorTime], *, advise: bool = False) -> Iterator[str]:
    """Yield a line for each entry whose bots think while they are not asked; the busiest first.

    If `advise`, a last line says how to prevent it.
    """
    busy = sorted(
        (item for item in times.items() if item[1].ponders), key=lambda item: -item[1].unasked_s
    )
    for name, time in busy[:_NAMED]:
        yield (
            f"{plain(name)} used {duration(time.unasked_s)} of processor time while it was not "
            f"its turn, {time.cores_unasked:.2f} cores on average."
        )
    if len(busy) > _NAMED:
        yield f"{count(len(busy) - _NAMED, 'more entry')} did so too; the report lists all."
    if busy and advise:
        yield "With ponder = false, bots in the sandbox would be frozen while it is not their turn."
