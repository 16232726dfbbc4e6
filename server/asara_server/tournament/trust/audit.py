"""Plans audits of runs and of single replays, and replays the matches."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from asara_server.event_loop import seldom_collect
from asara_server.eventlog.replay import ReplayError
from asara_server.replay.audit import Verdict, audit
from asara_server.replay.file import SUFFIX, parse_file, read_file
from asara_server.replay.signing import PUBLIC_KEY_FILE, read_public_key
from asara_server.single_process import SingleProcess
from asara_server.tournament.config.tournament_file import usable_cores
from asara_server.tournament.run.directory import BUNDLE_MATCHES, RUN_FOLDERS
from asara_server.tournament.run.run_record import signature_name
from asara_server.tournament.trust.attempt_check import ExpectedMatch
from asara_server.tournament.trust.inclusion import SIGNED
from asara_server.tournament.trust.manifest import MANIFEST
from asara_server.tournament.trust.run_audit import RunAudit
from asara_server.tournament.trust.run_files import MARKS
from asara_server.tournament.trust.signed_documents import (
    Cause,
    DocumentError,
    Published,
    Signed,
    check_signed,
    read_signed_bytes,
)
from asara_server.tournament.trust.tree_head import TREE_HEAD
from asara_server.user_error import UserError

_J = TypeVar("_J")
_V = TypeVar("_V")

_CHUNKS_AHEAD: Final = 3
"""How many chunks per process may be waiting to be audited or to be yielded in order."""


class AuditError(UserError, ValueError):
    """The audit cannot begin or continue; the text gives the reason."""


def map_in_processes(
    check: Callable[[_J], _V], jobs: Sequence[_J], processes: int, files_at_once: int
) -> Iterator[_V]:
    """Yield the verdict of each job, in job order. Raises AuditError.

    Only a few chunks of jobs are copied in memory at a time, no matter how many jobs there are.
    """
    chunks: Iterator[Sequence[_J]] = (
        jobs[at : at + files_at_once] for at in range(0, len(jobs), files_at_once)
    )
    waiting: deque[tuple[SingleProcess, Future[list[_V]]]] = deque()
    context = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        pools = [
            stack.enter_context(SingleProcess(context, _begin_worker)) for _ in range(processes)
        ]
        try:
            with _interrupts_held():  # processes are started here
                for pool, chunk in zip(pools * _CHUNKS_AHEAD, chunks, strict=False):
                    waiting.append((pool, pool.submit(_check_chunk, check, chunk)))
            while waiting:
                pool, future = waiting.popleft()
                verdicts = future.result()
                for chunk in islice(chunks, 1):
                    waiting.append((pool, pool.submit(_check_chunk, check, chunk)))
                yield from verdicts
        except BaseException as error:
            for pool in pools:
                pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(error, BrokenProcessPool):
                raise AuditError(
                    "a process of the audit was ended from outside, perhaps for lack of memory; "
                    "repeat it with fewer, such as --jobs 1"
                ) from None
            raise


def _check_chunk(check: Callable[[_J], _V], jobs: Sequence[_J]) -> list[_V]:
    return list(map(check, jobs))


def _begin_worker() -> None:
    """Let an interrupt from the terminal end this process immediately and without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    seldom_collect()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold interrupts back; processes started meanwhile hold them back until `_begin_worker`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_LEAK_WORLDS: Final = 2
"""Number of alternative worlds tried for every seat at every decision to find leaks."""

_FILES_AT_ONCE: Final = 16
"""Number of files sent to a process at a time."""

_FILES_WORTH_A_PROCESS: Final = 150
"""Number of files whose audit takes as long as starting a process."""

_LEAK_FILES_WORTH_A_PROCESS: Final = 4
"""Number of files whose audit with a search for leaks takes as long as starting a process."""


class FoundKey(NamedTuple):
    """A public key that was found with the replays, which proves nothing about its owner."""

    key: bytes
    file: Path | None
    """File that contains the key; None if it is the key in the replay itself."""


class AuditJob(NamedTuple):
    """A replay file to audit, with everything that it is checked against."""

    path: Path
    public_key: bytes | None
    """Key that must have signed the replay; None to accept any key."""
    tournament_secret: bytes | None
    """Secret from which the replay's deal must be derived; None if the deal cannot be checked."""
    expected: ExpectedMatch | None
    """The replay's place in its run; None if the replay is checked alone."""
    leaks: bool
    """True to search the replay for leaks as well."""
    found_key: FoundKey | None = None
    """Source of a single replay's `public_key`, unless the auditor gave the key."""


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """The audit of several runs and replays."""

    jobs: tuple[AuditJob, ...]
    """The replays of the runs, followed by the single replays."""
    runs: tuple[RunAudit, ...]
    """Findings about the runs."""
    single: int
    """Number of replays that are checked alone."""
    faults: tuple[str, ...]
    """Faults of the runs that contain single replays, as far as these affect the deals."""
    not_checked: tuple[str, ...]
    """Checks of single replays that were not possible, with the reasons."""
    causes: tuple[Cause, ...]
    """One cause for each fault, of all runs, that has one."""


def plan_audit(paths: Iterable[Path], published: Published, *, leaks: bool = False) -> AuditPlan:
    """Plan the audit of replay files, and of all runs and replays in directories.

    Raises AuditError. Without a published key, single replays are checked against their run's key.
    """
    runs: dict[Path, RunAudit] = {}
    files: dict[Path, None] = {}
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise AuditError(f"{path}: no such file or folder")
        if not path.is_dir():
            files[path] = None
            continue
        found = _find_runs(path)
        for directory in found:
            if directory.resolve() not in seen:
                seen.add(directory.resolve())
                runs[directory] = RunAudit(directory, published)
        replays = [file for file in sorted(path.rglob(f"*{SUFFIX}")) if file.is_file()]
        if not found and not replays:
            raise AuditError(f"{path}: contains no replay (*{SUFFIX})")
        files |= dict.fromkeys(replays)
    jobs = [job for report in runs.values() for job in _run_jobs(report, leaks=leaks)]
    covered = {job.path.resolve() for job in jobs}  # `replays` may be a link
    single = [file for file in files if file.resolve() not in covered]
    given = published.public_key
    keys = {} if given is not None else _found_keys(single)
    faults: list[str] = []
    folders = dict.fromkeys(file.absolute().parent for file in single)
    signed = {one: _signed_beside(one.parent, published, faults) for one in folders}
    jobs += [
        AuditJob(
            file,
            keys[file].key if file in keys else given,
            signed[file.absolute().parent].secret,
            None,
            leaks,
            keys.get(file),
        )
        for file in single
    ]
    found_signed = [*(report.signed for report in runs.values()), *signed.values()]
    return AuditPlan(
        tuple(jobs),
        tuple(runs.values()),
        len(single),
        tuple(faults),
        tuple(
            f"no signed end of a run in {folder.parent} reveals the secret of these deals, so "
            f"nothing shows that they follow from manifest {published.manifest_sha256}"
            for folder, documents in signed.items()
            if published.manifest_sha256 is not None and documents.secret is None
        ),
        tuple(cause for one in found_signed for cause in one.causes),
    )


def audit_replays(jobs: Sequence[AuditJob], processes: int | None = None) -> Iterator[Verdict]:
    """Yield the verdict of each job, in job order. Raises AuditError.

    If no number of processes is given, all usable cores work if there is enough to do.
    """
    leaks = any(job.leaks for job in jobs)
    at_once = 1 if leaks else _FILES_AT_ONCE
    if processes is None:
        worth_one = _LEAK_FILES_WORTH_A_PROCESS if leaks else _FILES_WORTH_A_PROCESS
        processes = min(usable_cores(), len(jobs) // worth_one)
    processes = min(processes, -(-len(jobs) // at_once))
    if processes <= 1:
        seldom_collect()
        yield from map(audit_replay, jobs)
        return
    yield from map_in_processes(audit_replay, jobs, processes, at_once)


def audit_replay(job: AuditJob) -> Verdict:
    try:
        return audit(
            read_file(job.path),
            job.public_key,
            tournament_secret=job.tournament_secret,
            expected=job.expected,
            worlds=_LEAK_WORLDS if job.leaks else 0,
        )
    except ReplayError as error:
        return Verdict(str(error))
    except Exception as error:  # noqa: BLE001 - one odd file must not keep the others unchecked
        return Verdict(f"cannot be played again: {type(error).__name__}: {error}")


# Runs and files


def _find_runs(path: Path) -> list[Path]:
    """Return the run directories at or below a path."""
    found = {file.parent for name in MARKS for file in path.rglob(name)}
    found = {directory for directory in found if not is_bundle(directory)}
    inside = RUN_FOLDERS  # a bot may have written files with these names
    return sorted(
        directory
        for directory in found
        if not any(
            parent in found and directory.relative_to(parent).parts[0] in inside
            for parent in directory.parents
        )
    )


def is_bundle(directory: Path) -> bool:
    """Return True for an unpacked bundle, which contains only the signed documents of a run."""
    signed = {*SIGNED, *map(signature_name, SIGNED)}
    marks = {name for name in MARKS if (directory / name).exists()}
    return marks <= signed and (directory / BUNDLE_MATCHES).is_file()


def _run_jobs(report: RunAudit, *, leaks: bool) -> list[AuditJob]:
    found = _key_of_run(report.directory / "replays")
    key = report.signed.public_key or (found and found.key)
    secret = report.signed.secret
    return [
        AuditJob(
            report.directory / "replays" / f"{name}{SUFFIX}",
            key,
            secret,
            report.expected.get(name),
            leaks,
        )
        for name in report.replays
    ]


def _signed_beside(directory: Path, published: Published, faults: list[str]) -> Signed:
    """Return the signed documents of a run, which reveal at its end the secret of the deals."""
    try:
        manifest = read_signed_bytes(directory / MANIFEST)
        head = read_signed_bytes(directory / TREE_HEAD)
    except DocumentError as error:
        faults.append(f"{directory}: its signed documents cannot be read: {error}")
        return Signed([])
    signed = check_signed(manifest, head, published) if manifest else Signed([])
    faults += [f"{directory}/{fault}" for fault in signed.faults]
    return signed


# Keys of single replays


def _found_keys(files: Sequence[Path]) -> dict[Path, FoundKey]:
    """Return the key that must have signed each file.

    The key is that of the file's run. All files without a run must have the same key as the first
    of them. A file has no key if neither its run nor any of these files gives one.
    """
    folders = dict.fromkeys(file.parent for file in files)
    by_folder = {folder: _key_of_run(folder) for folder in folders}
    signers = (_signer(file) for file in files if by_folder[file.parent] is None)
    signer = next(filter(None, signers), None)
    own = None if signer is None else FoundKey(signer, None)
    keys = ((file, by_folder[file.parent] or own) for file in files)
    return {file: key for file, key in keys if key is not None}


def _key_of_run(folder: Path) -> FoundKey | None:
    """Return the public key stored in a folder of replays or in its parent."""
    for path in (folder / PUBLIC_KEY_FILE, folder.absolute().parent / PUBLIC_KEY_FILE):
        if path.is_file():
            return FoundKey(read_public_key(path), path)
    return None


def _signer(path: Path) -> bytes | None:
    """Return the key that signed a replay; None if the file cannot be read."""
    try:
        file = parse_file(read_file(path))
    except ReplayError:
        return None
    return file.signature.public_key if file.signed else None
