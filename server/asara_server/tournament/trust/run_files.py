"""Reads a run for the audit: its journal, once, and the hashes of its other files.

What cannot be read becomes a fault.
"""

import hashlib
import json
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from pydantic import ValidationError

from asara_server.bounded_file import open_ordinary
from asara_server.eventlog.journal import Fact, JournalError, split_line
from asara_server.eventlog.log_file import MAGIC, LogReader, row_bytes
from asara_server.replay.file import SUFFIX
from asara_server.replay.signing import PUBLIC_KEY_FILE
from asara_server.tournament.run.directory import JOURNAL, RESULTS, STANDINGS
from asara_server.tournament.run.process_record import Lives, process_rows
from asara_server.tournament.run.run_record import (
    RUN_INFO,
    RunInfo,
    RunRecord,
    SignedBytes,
    json_bytes,
    signature_name,
)
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.trust.manifest import MANIFEST
from asara_server.tournament.trust.tree_head import TREE_HEAD

T = TypeVar("T")

TOURNAMENT: Final = "tournament.toml"

MARKS: Final = (
    *(RUN_INFO, TOURNAMENT, RESULTS, STANDINGS, JOURNAL),
    *(MANIFEST, signature_name(MANIFEST), TREE_HEAD, signature_name(TREE_HEAD)),
)
"""Files that mark a directory as a run: any one of them is enough."""

_LARGEST: Final = 4 * 2**30
"""Maximum size of a file that is read, in bytes."""


@dataclass
class RunFiles:
    """A run as its journal tells it, and its other files; missing or unreadable files are None."""

    directory: Path
    faults: list[str] = field(default_factory=list)
    """Faults found while reading; each text begins with a file name."""
    record: RunRecord = field(default_factory=RunRecord)
    """What the journal says about the run."""
    info: RunInfo | None = None
    results: list[MatchResult] = field(default_factory=list)
    """All attempts, in the order of the lines of `results.jsonl`."""
    lives: Lives = field(default_factory=Lives)
    """The lives of the bots' processes."""
    journal_sha256: str = ""
    """SHA-256 of the journal without its last row; "" if the journal cannot be read."""
    results_sha256: str = ""
    """SHA-256 of the `results.jsonl` that follows from the journal."""
    tournament: bytes | None = None
    public_pem: bytes | None = None
    standings: bytes | None = None
    replays: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each replay, by the replay's name without the suffix."""

    @property
    def manifest(self) -> SignedBytes | None:
        return self.record.documents.get("manifest")

    @property
    def tree_head(self) -> SignedBytes | None:
        return self.record.documents.get("tree_head")

    @property
    def running(self) -> bool:
        """True if the run has not ended."""
        return self.info is not None and self.tree_head is None


def read_files(directory: Path) -> RunFiles:
    """Read a run, and compare its documents with the journal."""
    files = RunFiles(directory)
    path = directory / JOURNAL
    try:
        if path.is_symlink():
            raise OSError(0, "not a regular file; replace it with a copy of the file")
        with open_ordinary(path) as file:
            _read_journal(files, file)
        files.info = files.record.info(Path(JOURNAL))
    except FileNotFoundError:
        files.faults.append(f"{JOURNAL}: missing; it contains the manifest and all results")
    except JournalError as error:
        files.faults.append(str(error))
    except OSError as error:
        files.faults.append(f"{JOURNAL}: {error.strerror or error}")
    files.tournament = _read(files, TOURNAMENT, _content)
    files.public_pem = _read(files, PUBLIC_KEY_FILE, _content)
    files.standings = _read(files, STANDINGS, _content)
    if files.info is not None:
        _compare_copies(files, files.info)
    _read_replays(files)
    return files


def _read(files: RunFiles, name: str, use: Callable[[BinaryIO], T]) -> T | None:
    """Return what `use` makes of a regular file; None if there is no such file."""
    path = files.directory / name
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):
            files.faults.append(f"{name}: not a regular file; replace it with a copy of the file")
        elif about.st_size > _LARGEST:
            files.faults.append(f"{name}: larger than any file of this kind")
        else:
            with path.open("rb") as file:
                return use(file)
    except FileNotFoundError:
        if not (files.running and name == STANDINGS) and name != TOURNAMENT:
            files.faults.append(f"{name}: missing")
    except OSError as error:
        files.faults.append(f"{name}: {error.strerror or error}")
    return None


def _content(file: BinaryIO) -> bytes:
    return file.read()


def _digest(file: BinaryIO) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def _read_journal(files: RunFiles, file: BinaryIO) -> None:
    """Read the journal; raises JournalError and OSError."""
    reader = LogReader(file, Path(JOURNAL))
    before, digest, results = sha256(), sha256(MAGIC), sha256()
    for row in reader.rows():
        before = digest.copy()
        digest.update(row_bytes(reader.content, reader.checksum))
        try:
            for number, data in row:
                if not number:
                    kind, _, text = split_line(data)
                    if kind == "result":
                        results.update(f"{text}\n".encode())
                        _add_result(files, text)
                    elif kind != "match":
                        _add_fact(files, Fact(kind, json.loads(text)))
        except (ValueError, RecursionError) as error:
            raise reader.damaged(str(error)) from None
    files.journal_sha256 = before.hexdigest()
    files.results_sha256 = results.hexdigest()


def _add_fact(files: RunFiles, fact: Fact) -> None:
    files.record.add(fact)
    for row in process_rows([fact], Path(JOURNAL)):
        files.lives.add(row)


def _add_result(files: RunFiles, text: str) -> None:
    place = f"{RESULTS}: line {len(files.results) + 1}"
    try:
        result = MatchResult.from_json(text)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]["msg"]
        raise ValueError(f"{place}: cannot be read: {fault}") from None
    if result.to_json() != text:
        files.faults.append(f"{place}: not written as asara writes it: its text was changed")
    files.results.append(result)


def _compare_copies(files: RunFiles, info: RunInfo) -> None:
    """Find published files that are not what the journal contains.

    While a run is played, some of its files may change while they are read.
    """
    expected = {name: sha256(data).hexdigest() for name, data in files.record.files().items()}
    if not files.running:
        expected[RUN_INFO] = sha256(json_bytes(info)).hexdigest()
        expected[RESULTS] = files.results_sha256
    for name, digest in expected.items():
        found = _read(files, name, _digest)
        if found is not None and found != digest:
            files.faults.append(f"{name}: changed: {JOURNAL} contains something else")
    for name in (TREE_HEAD, signature_name(TREE_HEAD)):
        if name not in expected and (files.directory / name).exists():
            files.faults.append(f"{name}: extra: {JOURNAL} contains no end of the run")


def _read_replays(files: RunFiles) -> None:
    folder = files.directory / "replays"
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        files.faults.append(f"replays: {error.strerror or error}")
        return
    for path in found:
        name = f"replays/{path.name}"
        if path.suffix != SUFFIX or path.name.startswith("."):
            # a running run may be writing it
            if not (files.running and path.name.endswith(".part")):
                files.faults.append(f"{name}: extra: not a replay of the run")
        elif (digest := _read(files, name, _digest)) is not None:
            files.replays[path.name.removesuffix(SUFFIX)] = digest
