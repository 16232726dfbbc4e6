"""A measurement that is interrupted and continued, for `scripts/tune calibration` and `labels`."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest


def printed_thrice(
    command: Callable[[Sequence[str]], int],
    options: Sequence[str],
    out: Path,
    capsys: pytest.CaptureFixture[str],
    forbid: Callable[[], None],
) -> str:
    """Run a command, and again with its last line cut, and again with nothing left to measure.

    Return what it printed each time. `forbid` makes a further measurement fail.
    """
    texts = []
    last = ""
    for run in range(3):
        if run == 1:
            *whole, last = out.read_text().splitlines(keepends=True)
            out.write_text("".join(whole) + last[:40] + "\n")
        elif run == 2:
            assert out.read_text().splitlines(keepends=True)[-1] == last
            forbid()
        assert command([*options, "--out", str(out)]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] == texts[2]
    return texts[0]
