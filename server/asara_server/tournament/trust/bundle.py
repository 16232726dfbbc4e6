"""Bundles of a run: one zip file per entry, for the entry's author.

A bundle contains everything about its own entry, but only public facts about others. These are the
signed replays of the entry's matches, which show all hands, moves and times, and the reasons for
forfeits as the referee gave them to all bots. Output of other bots or their builds is in none of
its files.

With the signed documents of the run and a proof for each replay, an author can show that a match
belongs to the run. A proof contains the whole line of `results.jsonl`. If this line quotes another
bot's output, the bundle has no such proof, and README.txt explains why.

A stopped run may continue, so its deals stay secret: a bundle never contains the log of a match
whose replay is not published yet.
"""

import os
import re
import secrets
import shutil
import stat
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from asara_server.journal.replay import ReplayError
from asara_server.replay.file import read_file
from asara_server.replay.signing import PUBLIC_KEY_FILE
from asara_server.text import plain, plain_words
from asara_server.tournament.config.names import name_fault
from asara_server.tournament.run.directory import BUNDLE_MATCHES, BUNDLES, RunError
from asara_server.tournament.run.read_run import RunJournal
from asara_server.tournament.run.run_record import RunInfo
from asara_server.tournament.standings.match_result import MatchResult, by_schedule
from asara_server.tournament.standings.model import Standings, StandingsRow
from asara_server.tournament.trust.inclusion import (
    PROOF_SUFFIX,
    PROOFS,
    ProofMaker,
)

_MOST_SEATS: Final = 4
_MATCH_NAME: Final = re.compile(r"[a-z0-9][a-z0-9+.-]{0,99}")
_LONGEST_LINE: Final = 200
"""Maximum characters of a README.txt line about a forfeit; `matches.jsonl` has the full text."""
_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip file can represent."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A finished bundle."""

    entry: str
    path: Path
    missing: tuple[str, ...]
    """Replays of the entry's matches that are missing in the run directory."""
    unproven: str
    """Why a replay lacks the proof that it should have; "" if no proof is missing."""


def check_names(run: RunJournal) -> None:
    """Raise RunError if a name in the run would lead outside a bundle or its directory.

    A run may come from elsewhere, and its names become file names here.
    """
    entries = {*run.info.entries, *(seat.entry for one in run.results for seat in one.seats)}
    for entry in entries:
        if fault := name_fault(entry):
            raise RunError(f"the name of an entry cannot name a bundle: {plain(fault)}")
    for name in (result.played_as for result in run.results):
        if not _MATCH_NAME.fullmatch(name):
            raise RunError(f"{plain(name)!r} is not the name of a match")


class BundleWriter:
    """Writes the bundles of one run to its directory `bundles`, which only its owner may enter."""

    def __init__(self, run: RunJournal, standings: Standings) -> None:
        self._directory = run.directory
        self._proofs: ProofMaker | None = None
        self._unproven = ""
        try:
            self._proofs = ProofMaker(run)
        except RunError as error:
            self._unproven = str(error)
        self._documents = run.record.files() if self._proofs else {}
        self._info = run.info
        self._results = by_schedule(run.results)
        self._standings = standings
        self._time = _zip_time(run.info.ended)

    def write(self) -> Iterator[Bundle]:
        """Write the bundle of each entry and yield it; raises OSError."""
        folder = self._directory / BUNDLES
        folder.mkdir(mode=0o700, exist_ok=True)
        for row in self._standings.overall:
            yield self._write_bundle(folder / f"{row.entry}.zip", row)

    def _write_bundle(self, path: Path, row: StandingsRow) -> Bundle:
        part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with (
                os.fdopen(descriptor, "wb") as file,
                zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
            ):
                bundle = self._fill(archive, path, row)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return bundle

    def _fill(self, archive: zipfile.ZipFile, path: Path, row: StandingsRow) -> Bundle:
        """Write the files of an entry."""
        entry = row.entry
        own = list(self._own_results(entry))
        files, missing = self._files(entry, own)
        proofs, unproven = self._proofs_for(entry, own, files)
        lines = [_own_line(result, entry) for result in own]
        self._add(archive, f"{entry}/README.txt", self._about(row, own).encode())
        self._add(archive, f"{entry}/{BUNDLE_MATCHES}", "".join(lines).encode())
        for name, file in files.items():
            with file.open("rb") as content:
                self._add(archive, f"{entry}/{name}", content)
        for name, document in self._documents.items():
            self._add(archive, f"{entry}/{name}", document)
        for name, proof in proofs.items():
            self._add(archive, f"{entry}/{PROOFS}/{name}{PROOF_SUFFIX}", proof)
        return Bundle(entry, path, tuple(missing), unproven)

    def _files(self, entry: str, own: Sequence[MatchResult]) -> tuple[dict[str, Path], list[str]]:
        """Return the run's key, replays and logs for an entry, and the replays that are missing."""
        files = {PUBLIC_KEY_FILE: self._directory / PUBLIC_KEY_FILE}
        missing = []
        for result in own:
            name = result.played_as
            replay = f"replays/{name}.asara"
            published = not result.void and _is_ordinary(self._directory / replay)
            if published:
                files[replay] = self._directory / replay
            elif not result.void:
                missing.append(name)
            if published or self._info.state == "finished":
                files |= dict(self._logs(name, result, entry))
        build = f"logs/build-{entry}.log"
        files[build] = self._directory / build
        return {name: path for name, path in files.items() if _is_ordinary(path)}, missing

    def _proofs_for(
        self, entry: str, own: Sequence[MatchResult], files: Mapping[str, Path]
    ) -> tuple[dict[str, bytes], str]:
        """Return the proofs for an entry's replays, and why a proof could not be made."""
        proofs: dict[str, bytes] = {}
        unproven = self._unproven
        for result in own:
            replay = files.get(f"replays/{result.played_as}.asara")
            if self._proofs is None or replay is None or not _may_have(result, entry):
                continue
            try:
                proofs[result.played_as] = self._proofs.prove(read_file(replay)).content()
            except (RunError, ReplayError) as error:
                unproven = str(error)
        return proofs, unproven

    def _add(self, archive: zipfile.ZipFile, name: str, content: bytes | BinaryIO) -> None:
        about = zipfile.ZipInfo(name, self._time)
        about.compress_type = zipfile.ZIP_DEFLATED
        about.external_attr = (stat.S_IFREG | 0o644) << 16
        with archive.open(about, "w", force_zip64=True) as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                shutil.copyfileobj(content, file)

    def _own_results(self, entry: str) -> Iterator[MatchResult]:
        """Yield the attempts at an entry's matches; void attempts list no entries."""
        own = {
            result.match_id
            for result in self._results
            if any(seat.entry == entry for seat in result.seats)
        }
        for result in self._results:
            if result.match_id in own or any(self._logs(result.played_as, result, entry)):
                yield result

    def _logs(self, name: str, result: MatchResult, entry: str) -> Iterator[tuple[str, Path]]:
        """Yield the logs of an entry's bot in an attempt, with their names in the bundle."""
        seats = [seat for seat, outcome in enumerate(result.seats) if outcome.entry == entry]
        for seat in range(_MOST_SEATS) if result.void else seats:
            log = f"logs/{name}/{seat}-{entry}.log"
            if _is_ordinary(self._directory / log):
                yield log, self._directory / log

    def _about(self, row: StandingsRow, own: Sequence[MatchResult]) -> str:
        """Return the text of the entry's README.txt."""
        info, entry = self._info, row.entry
        place = f"place {row.place} of {len(self._standings.overall)}, score {row.score:z.3f}"
        lines = [
            f"{info.title}: {entry}",
            f"Run {info.state} {info.ended or ''}, played with asara {info.asara}",
            f"Result: {place if row.matches else 'no match'}, {row.matches:,} matches",
            *_reasons("Out", info.out.get(entry)),
            *_reasons("Suspended", info.suspended.get(entry)),
            *_forfeit_lines(own, entry),
            *_CONTENT,
            *(_proof_lines(info, own, entry) if self._proofs else ()),
        ]
        return "".join(f"{plain(line, None)}\n" for line in lines)


_CONTENT: Final = (
    "",
    "This bundle contains, as far as it exists:",
    "  matches.jsonl  a line for each attempt at a match of this entry, as in results.jsonl",
    "  replays/       the signed replay of each match",
    "  logs/          what the bot printed, by match and seat, and its build; lines of the",
    "                 runner begin with #",
    "  referee.pub    the public key of the referee",
    "  manifest.json  everything that was decided before the first match, and its signature",
    "  tree_head.json the hash of all results of the run, and its signature",
    "  proofs/        for each replay the proof that it belongs to the run",
    "",
    "In this folder, with asara installed:",
    "  asara audit replays                       plays the matches again and checks signatures",
    "  asara replay show replays/FILE            prints a match; --seat N as that seat saw it",
    "  asara replay clock replays/FILE           shows times and forfeits",
)


def _proof_lines(info: RunInfo, own: Sequence[MatchResult], entry: str) -> Iterator[str]:
    """Yield how to check that the replays belong to the run, and which of them lack a proof."""
    yield ""
    yield "Do the matches belong to the run, as the organiser published it before the first match?"
    yield f"  asara audit replays/*.asara --inclusion --manifest {info.manifest_sha256}"
    yield "Before that, compare this hash with the one that the organiser published: a hash that"
    yield "comes with the bundle alone proves nothing."
    if without := [one.played_as for one in own if not one.void and not _may_have(one, entry)]:
        yield "No proof is here of these matches, since it would contain what another bot printed;"
        yield "the organiser can make one with `asara replay prove`:"
        yield from (f"  {name}" for name in without)


def _may_have(result: MatchResult, entry: str) -> bool:
    """Return True if an entry's author may read the whole result line."""
    others = (seat for seat in result.seats if seat.entry != entry)
    return not result.void and not result.lost and not any(seat.printed for seat in others)


def _own_line(result: MatchResult, entry: str) -> str:
    """Return a result line without the reasons of other entries, and without the workers' losses.

    The entry's own forfeit keeps its reason, including the last lines that its bot printed.
    """
    seats = tuple(
        seat if seat.entry == entry else replace(seat, detail="", printed=None)
        for seat in result.seats
    )
    public = replace(result, seats=seats, lost=())
    return f"{public.to_json()}\n"


def _reasons(title: str, reason: str | None) -> list[str]:
    return [f"{title}: {reason}"] if reason else []


def _forfeit_lines(results: Iterable[MatchResult], entry: str) -> list[str]:
    """Return an entry's forfeits, a line each, under a title; nothing without forfeits."""
    forfeits = [
        (result.played_as, seat)
        for result in results
        for seat in result.forfeits
        if seat.entry == entry
    ]
    lines = [
        plain(
            f"  {name}  {plain_words(seat.termination.name)}: {seat.explanation}",
            _LONGEST_LINE,
        )
        for name, seat in forfeits
    ]
    return ["", f"Forfeits: {len(forfeits):,}", *lines] if lines else []


def _is_ordinary(path: Path) -> bool:
    """Return True for a regular file that is not a link and is not inside a link."""
    try:
        return not path.parent.is_symlink() and stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _zip_time(ended: str | None) -> tuple[int, int, int, int, int, int]:
    """Return the time of all files in a bundle: the end of the run, the same for each file."""
    try:
        end = datetime.fromisoformat(ended or "")
    except ValueError:
        return _EARLIEST
    return max(_EARLIEST, (end.year, end.month, end.day, end.hour, end.minute, end.second))
