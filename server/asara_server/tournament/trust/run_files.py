"""Reads every file of a run for the audit; each unreadable file becomes a fault."""

import hashlib
import stat
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError

from asara_server.bounded_file import open_ordinary
from asara_server.eventlog.journal import Fact, JournalError, read_facts
from asara_server.replay.signing import PUBLIC_KEY_FILE
from asara_server.tournament.run.directory import JOURNAL, RunInfo
from asara_server.tournament.run.process_record import OTHER_FACTS, ProcessRow, process_rows
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.trust.manifest import MANIFEST
from asara_server.tournament.trust.signed_file import (
    DocumentError,
    SignedBytes,
    read_signed_bytes,
    signature_name,
)
from asara_server.tournament.trust.tree_head import TREE_HEAD

RESULTS: Final = "results.jsonl"
STANDINGS: Final = "standings.json"
RUN_INFO: Final = "run.json"
TOURNAMENT: Final = "tournament.toml"
SUFFIX: Final = ".asara"

MARKS: Final = (
    *(RUN_INFO, TOURNAMENT, RESULTS, STANDINGS, JOURNAL),
    *(MANIFEST, signature_name(MANIFEST), TREE_HEAD, signature_name(TREE_HEAD)),
)
"""Files that mark a directory as a run: any one of them is enough."""

_LARGEST: Final = 4 * 2**30
"""Maximum size of a file that is read, in bytes."""


class Line(NamedTuple):
    """An attempt, with its line in `results.jsonl`."""

    number: int
    result: MatchResult


@dataclass
class RunFiles:
    """The files of a run; missing or unreadable files are None."""

    directory: Path
    faults: list[str] = field(default_factory=list)
    """Faults found while reading; each text begins with a file name."""
    manifest: SignedBytes | None = None
    tree_head: SignedBytes | None = None
    info: RunInfo | None = None
    info_sha256: str = ""
    tournament: bytes | None = None
    public_pem: bytes | None = None
    standings: bytes | None = None
    journal_sha256: str = ""
    """SHA-256 of the journal without its last row; "" if there is no journal."""
    facts: tuple[Fact, ...] = ()
    """The facts in the journal that are not about processes."""
    processes: tuple[ProcessRow, ...] = ()
    """The process record in the journal."""
    results_sha256: str = ""
    """"" if there is no such file."""
    lines: tuple[Line, ...] = ()
    lines_read: bool = False
    """True if every line of `results.jsonl` could be read."""
    replays: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each replay, by the replay's name without the suffix."""

    @property
    def results(self) -> list[MatchResult]:
        """The attempts that could be read, in file order."""
        return [line.result for line in self.lines]

    def has_fault(self, name: str) -> bool:
        """Return True if reading this file revealed a fault."""
        return any(fault.startswith(f"{name}:") for fault in self.faults)

    @property
    def running(self) -> bool:
        """True if `run.json` shows that the run has not ended."""
        return self.info is not None and self.info.state in {"prepared", "running"}


def read_files(directory: Path) -> RunFiles:
    """Read the files of a run."""
    files = RunFiles(directory)
    files.manifest = _read_document(files, MANIFEST)
    files.tree_head = _read_document(files, TREE_HEAD)
    files.tournament = _read(files, TOURNAMENT)
    files.public_pem = _read(files, PUBLIC_KEY_FILE)
    files.standings = _read(files, STANDINGS)
    _read_journal(files)
    _read_info(files)
    read_results_into(files)
    _read_replays(files)
    return files


def _read_document(files: RunFiles, name: str) -> SignedBytes | None:
    try:
        return read_signed_bytes(files.directory / name)
    except DocumentError as error:
        files.faults.append(f"{name}: {error}")
        return None


def _read(files: RunFiles, name: str) -> bytes | None:
    """Return the content of a regular file; None if there is no such file."""
    path = files.directory / name
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):
            files.faults.append(f"{name}: not a regular file; replace it with a copy of the file")
        elif about.st_size > _LARGEST:
            files.faults.append(f"{name}: larger than any file of this kind")
        else:
            return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        files.faults.append(f"{name}: {error.strerror or error}")
    return None


def _read_journal(files: RunFiles) -> None:
    path, name = files.directory / JOURNAL, Path(JOURNAL)
    try:
        if path.is_symlink():
            raise OSError(0, "not a regular file; replace it with a copy of the file")
        with open_ordinary(path) as file:
            facts, files.journal_sha256 = read_facts(file, name)
            files.facts = tuple(fact for fact in facts if fact.kind in OTHER_FACTS)
            files.processes = tuple(process_rows(facts, name))
    except FileNotFoundError:
        pass
    except JournalError as error:
        files.faults.append(str(error))
    except OSError as error:
        files.faults.append(f"{JOURNAL}: {error.strerror or error}")


def _read_info(files: RunFiles) -> None:
    content = _read(files, RUN_INFO)
    if content is None:
        return
    files.info_sha256 = sha256(content).hexdigest()
    try:
        files.info = RunInfo.model_validate_json(content)
    except ValidationError:
        files.faults.append(
            f"{RUN_INFO}: cannot be read, or was written by another version of asara"
        )


def read_results_into(files: RunFiles) -> None:
    """Read `results.jsonl` into `files`."""
    content = _read(files, RESULTS)
    if content is None:
        return
    files.results_sha256 = sha256(content).hexdigest()
    faults = []
    lines = []
    *texts, rest = content.split(b"\n")
    for number, text in enumerate(texts, start=1):
        try:
            result = MatchResult.model_validate_json(text)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]["msg"]
            faults.append(f"{RESULTS}: line {number}: cannot be read: {fault}")
            continue
        if result.model_dump_json().encode() != text:
            faults.append(
                f"{RESULTS}: line {number}: not written as asara writes it: its text was changed"
            )
        lines.append(Line(number, result))
    if rest and not files.running:  # a running run may be writing it
        faults.append(f"{RESULTS}: cut short in line {len(texts) + 1}")
    files.lines = tuple(lines)
    files.lines_read = not faults
    files.faults += faults


def _read_replays(files: RunFiles) -> None:
    folder = files.directory / "replays"
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        files.faults.append(f"replays: {error.strerror or error}")
        return
    for path in found:
        name = f"replays/{path.name}"
        if path.is_symlink() or not path.is_file():
            files.faults.append(f"{name}: not a regular file; replace it with a copy of the replay")
        elif path.suffix != SUFFIX or path.name.startswith("."):
            # a running run may be writing it
            if not (files.running and path.name.endswith(".part")):
                files.faults.append(f"{name}: extra: not a replay of the run")
        else:
            try:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256")
                    files.replays[path.name.removesuffix(SUFFIX)] = digest.hexdigest()
            except OSError as error:
                files.faults.append(f"{name}: {error.strerror or error}")
