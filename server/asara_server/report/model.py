"""The content of a report, from which `tables` and the page are made."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from asara_server.report.times import PublishedFiles, Times, read_published_files, time_use
from asara_server.text import on_one_line, plain, without_paths
from asara_server.tournament.run.read_run import directories_of
from asara_server.tournament.run.run_record import RunInfo
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome, by_schedule
from asara_server.tournament.standings.model import Standings


class Publisher(NamedTuple):
    """Decides which details of a run readers may see."""

    private: tuple[str, ...]
    """The organiser's directories."""
    full: bool
    """True for a report, which the organiser hands out. False for a server's page, which anybody
    may open: it shows neither what bots printed nor the seed or the secret of the deals."""

    def reason(self, text: str) -> str:
        """Return a reason of unknown origin in a form that may be shown; see `without_paths`."""
        return plain(without_paths(on_one_line(text), self.private))

    def forfeit(self, seat: SeatOutcome) -> str:
        """Return why a seat forfeited, in a form that may be shown."""
        return self.reason(seat.explanation if self.full else seat.reason)

    def exclusions(self, info: RunInfo) -> list[tuple[str, str, str]]:
        """Return the entries that play no matches, with name, kind and reason.

        The kind is `out` if an entry could not be built or started, `suspended` if it forfeited too
        often, and `left_out` if its folder has no usable `bot.toml`.
        """
        found = []
        for name, why in info.out.items():
            printed = info.build_output.get(name, ()) if self.full else ()
            lines = "; ".join(map(self.reason, printed))
            output = f"; it printed: {lines}" if lines else ""
            found.append((plain(name), "out", self.reason(why) + output))
        for name, why in info.suspended.items():
            found.append((plain(name), "suspended", self.reason(why)))
        for name, why in info.left_out.items():
            found.append((plain(name), "left_out", self.reason(_in_folder(name, why))))
        return found


def _in_folder(folder: str, why: str) -> str:
    """Return why a folder was left out; paths at the start of lines are shortened to the folder."""
    lines = []
    for line in why.split("\n"):
        before, found, after = line.partition(f"/{folder}")
        lines.append(folder + after if found and ": " not in before else line)
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Report:
    """A run as its report shows it. Texts are unchanged, so code that shows them calls `plain`."""

    info: RunInfo
    results: tuple[MatchResult, ...]
    """Results that count, in schedule order."""
    standings: Standings
    files: PublishedFiles
    times: Times
    publisher: Publisher

    @property
    def over(self) -> bool:
        """True if the run has finished, so that its seed and replays may be shown."""
        return self.info.state == "finished"


def read_report(
    directory: Path,
    info: RunInfo,
    results: Iterable[MatchResult],
    standings: Standings,
    *,
    full: bool,
) -> Report:
    """Return the report of a run; `results` are all of its results, in any order."""
    counted = tuple(result for result in by_schedule(results) if not result.void)
    files = read_published_files(directory)
    times = time_use(files, counted)
    publisher = Publisher(directories_of(directory), full)
    return Report(info, counted, standings, files, times, publisher)
