"""`asara audit`: verify replays without trusting whoever made them."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from asara_server.cli.display.console import err, notify, out, warn
from asara_server.cli.errors import UserError
from asara_server.event_loop import seldom_collect

if TYPE_CHECKING:
    from asara_server.replay.audit import Verdict

_WORLDS = 2
"""Other worlds that --leaks tries for every seat at every decision."""

_AT_ONCE = 16
"""Files that a process is given at a time."""

_FEW = 8
"""Files for which other processes are not worth their start."""


def audit(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Replays, and directories that hold some."),
    ],
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The referee's public key. [default: referee.pub in the run of the replay]",
        ),
    ] = None,
    commitment: Annotated[
        str | None,
        typer.Option(
            metavar="HEX",
            help="What was published before the first match. [default: as run.json says]",
        ),
    ] = None,
    leaks: Annotated[
        bool,
        typer.Option("--leaks", help="See also that no seat was told what it may not know."),
    ] = False,
    processes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="At once. [default: one for each core]")
    ] = None,
) -> None:
    """Verify replays by playing every match again.

    Compares all actions, clocks, results and every message to a bot. Prints a line for each unsound
    replay, which names the first wrong record. The exit status is 0 only if all replays are sound.
    """
    files = list(_files(paths))
    secrets = _Secrets(commitment)
    jobs = [
        _Job(file, public, secrets.of_run(file), _WORLDS if leaks else 0)
        for file, public in _Keys(key).expected(files)
    ]
    if commitment is not None and not any(job.tournament_secret for job in jobs):
        secrets.faults.append("--commitment: no run.json beside the replays tells a secret")
    unsound = 0
    for file, verdict in _with_progress(_verdicts(jobs, processes or os.cpu_count() or 1), jobs):
        if verdict.fault is not None:
            unsound += 1
            out.print(f"{file}: {verdict.fault}", markup=False, soft_wrap=True)
    for fault in secrets.faults:
        out.print(fault, markup=False, soft_wrap=True)
    for note in secrets.notes:
        notify(note)
    sound = len(files) - unsound
    out.print(f"audited {len(files)} replays: {sound} sound, {unsound} unsound")
    raise typer.Exit(1 if unsound or secrets.faults else 0)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """All replays, each once, in the order in which they are named."""
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or directory")
        found = sorted(path.rglob("*.asara")) if path.is_dir() else [path]
        if not found:
            raise UserError(f"{path}: holds no replay (*.asara)")
        for file in found:
            if file not in seen:
                seen.add(file)
                yield file


class _Keys:
    """Which key should have signed a replay."""

    def __init__(self, path: Path | None) -> None:
        self._named = None if path is None else _read(path)
        self._by_folder: dict[Path, bytes | None] = {}

    def expected(self, files: Sequence[Path]) -> list[tuple[Path, bytes | None]]:
        """The key for each file. Where there is none, the first file's own is trusted for all."""
        keys = [self._named or self._in_run(file.parent) for file in files]
        if None not in keys:
            return list(zip(files, keys, strict=True))
        first = next(
            (
                signer
                for file, key in zip(files, keys, strict=True)
                if key is None
                if (signer := _signer(file))
            ),
            None,
        )
        if first is not None:
            warn(
                f"No --key, and no referee.pub beside the replays: the key {first.hex()} is "
                "trusted. Compare it with the one that the organiser published."
            )
        return [(file, key or first) for file, key in zip(files, keys, strict=True)]

    def _in_run(self, folder: Path) -> bytes | None:
        """The key that lies beside a replay, or beside the folder that it lies in."""
        if folder not in self._by_folder:
            from asara_server.replay.signing import PUBLIC_KEY_FILE

            places = (folder / PUBLIC_KEY_FILE, folder.absolute().parent / PUBLIC_KEY_FILE)
            found = next((place for place in places if place.is_file()), None)
            self._by_folder[folder] = None if found is None else _read(found)
        return self._by_folder[folder]


class _Secrets:
    """What the deals of a run have to follow from: the secret that it told when it was over."""

    def __init__(self, commitment: str | None) -> None:
        if commitment is not None and not re.fullmatch("[0-9a-fA-F]{64}", commitment):
            raise UserError(f"--commitment {commitment}: should have 64 hexadecimal digits")
        self._published = commitment and commitment.lower()
        self._by_folder: dict[Path, bytes | None] = {}
        #: Runs whose secret is not the one that they were bound to.
        self.faults: list[str] = []
        #: Runs whose deals could not be checked.
        self.notes: list[str] = []

    def of_run(self, file: Path) -> bytes | None:
        """The secret of the run that a replay lies in; None where there is none to go by."""
        folder = file.absolute().parent
        if folder not in self._by_folder:
            run = folder.parent / "run.json"
            self._by_folder[folder] = self._open(run) if run.is_file() else None
        return self._by_folder[folder]

    def _open(self, run: Path) -> bytes | None:
        from asara_server.match.deal_secrets import commitment
        from asara_server.tournament.run.directory import RunDirectoryError, read_info

        try:
            info = read_info(run.parent)
            secret = bytes.fromhex(info.tournament_secret or "")
        except (RunDirectoryError, ValueError):
            self.faults.append(f"{run}: cannot be read, or its secret is no secret")
            return None
        published = self._published or info.deal_commitment
        if not secret:
            self.notes.append(
                f"{run}: the secret of the tournament is not told yet, so nobody can see whether "
                "the deals follow from it"
            )
            return None
        if commitment(secret).hex() != published:
            self.faults.append(
                f"{run}: the secret of the tournament does not open the commitment: expected "
                f"{published}, found {commitment(secret).hex()}"
            )
        return secret


def _read(path: Path) -> bytes:
    from asara_server.replay.signing import KeyFileError, read_public_key

    try:
        return read_public_key(path)
    except KeyFileError as error:
        raise UserError(str(error)) from None


def _signer(path: Path) -> bytes | None:
    from asara_server.eventlog.header import ReplayError
    from asara_server.replay.file import parse_file, read_file

    try:
        file = parse_file(read_file(path))
    except ReplayError:
        return None
    return file.signature.public_key if file.signed else None


class _Job(NamedTuple):
    """A file to audit, and what it is held against."""

    path: Path
    public_key: bytes | None
    tournament_secret: bytes | None
    worlds: int


def _audit_file(job: _Job) -> "tuple[Path, Verdict]":
    from asara_server.eventlog.header import ReplayError
    from asara_server.replay.audit import Verdict, audit
    from asara_server.replay.file import read_file

    path, public_key, secret, worlds = job
    try:
        data = read_file(path)
        return path, audit(data, public_key, tournament_secret=secret, worlds=worlds)
    except ReplayError as error:
        return path, Verdict(str(error))
    except Exception as error:  # noqa: BLE001 - one strange file must not keep the others unchecked
        return path, Verdict(f"cannot be driven again: {type(error).__name__}: {error}")


def _verdicts(jobs: Sequence[_Job], processes: int) -> "Iterator[tuple[Path, Verdict]]":
    """In the order of the jobs."""
    processes = min(processes, -(-len(jobs) // _AT_ONCE))
    if processes == 1 or len(jobs) <= _FEW:
        seldom_collect()
        yield from map(_audit_file, jobs)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, initializer=seldom_collect) as pool:
        try:
            yield from pool.map(_audit_file, jobs, chunksize=_AT_ONCE)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _with_progress(
    verdicts: "Iterable[tuple[Path, Verdict]]", jobs: Sequence[_Job]
) -> "Iterator[tuple[Path, Verdict]]":
    """The same, with a bar on a terminal; elsewhere a line now and then where it takes long."""
    from rich.progress import track

    if err.is_terminal:
        yield from track(verdicts, "Auditing", total=len(jobs), console=err, transient=True)
        return
    for number, verdict in enumerate(verdicts, 1):
        yield verdict
        if number % 1000 == 0 and number < len(jobs):
            notify(f"{number:,} of {len(jobs):,} replays")
