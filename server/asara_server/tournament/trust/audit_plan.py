"""Plans audits of runs and of single replays, and replays the matches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from asara_server.event_loop import seldom_collect
from asara_server.journal.replay import ReplayError
from asara_server.process_pool import map_in_processes
from asara_server.replay.audit import Verdict, audit
from asara_server.replay.file import SUFFIX, is_other_file, parse_file, read_file
from asara_server.replay.signing import PUBLIC_KEY_FILE, read_public_key
from asara_server.system import usable_cores
from asara_server.tournament.run.directory import BUNDLE_MATCHES, RUN_FOLDERS, RUN_MARKS
from asara_server.tournament.run.run_record import signature_name
from asara_server.tournament.trust.inclusion import SIGNED
from asara_server.tournament.trust.manifest import MANIFEST
from asara_server.tournament.trust.result_check import ExpectedMatch, replay_file
from asara_server.tournament.trust.run_audit import RunAudit
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

_LEAK_WORLDS: Final = 2
"""Number of alternative worlds tried for every seat at every decision to find leaks."""

_FILES_AT_ONCE: Final = 16
"""Number of files sent to a process at a time."""

_FILES_WORTH_A_PROCESS: Final = 150
"""Number of files whose audit takes as long as starting a process."""

_LEAK_FILES_WORTH_A_PROCESS: Final = 4
"""Number of files whose audit with a search for leaks takes as long as starting a process."""


class AuditJob(NamedTuple):
    """A replay file to audit, with everything that it is checked against."""

    path: Path
    public_key: bytes | None
    """Key that must have signed the replay; None to accept any key."""
    tournament_secret: bytes | None
    """Secret from which the replay's deal must be derived; None if the deal cannot be checked."""
    leaks: bool
    """True to search the replay for leaks as well."""
    expected: ExpectedMatch | None = None
    """The replay's place in its run; None if the replay is checked alone."""
    run: Path | None = None
    """Directory of the run that is audited with the replay; None if the replay is checked alone."""
    changed: str = ""
    """In what way the file contradicts the results of its run; "" if it agrees with the results."""
    key_from: Path | None = None
    """File in which the key of a replay that is checked alone was found: a public key, or a replay.
    This proves nothing about the key's owner. None if the auditor gave the key.
    """


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """The audit of several runs and replays."""

    jobs: tuple[AuditJob, ...]
    """The replays of the runs, followed by the replays that are checked alone."""
    runs: tuple[RunAudit, ...]
    """Findings about the runs."""
    faults: tuple[str, ...]
    """Faults of the runs, without the faults of their replays. Of a run that only contains single
    replays of the audit, these are the faults that affect the deals.
    """
    not_checked: tuple[str, ...]
    """Checks of single replays that were not possible, with the reasons."""
    causes: tuple[Cause, ...]
    """One cause for each fault, of all runs, that has one."""


def plan_audit(paths: Iterable[Path], published: Published, *, leaks: bool = False) -> AuditPlan:
    """Plan the audit of replay files, and of all runs and replays in directories.

    Raises UserError. Without a published key, single replays are checked against their run's key.
    """
    runs: dict[Path, RunAudit] = {}
    files: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
        if path.suffix == ".zip":
            raise UserError(f"{path}: a zip file; unpack it, then pass its folder")
        if not path.is_dir():
            check_kind(path)
            files[path] = None
            continue
        found = _find_runs(path)
        for directory in found:
            if directory.resolve() not in runs:
                runs[directory.resolve()] = RunAudit(directory, published)
        replays = [file for file in sorted(path.rglob(f"*{SUFFIX}")) if file.is_file()]
        if not found and not replays:
            raise UserError(f"{path}: contains no replay (*{SUFFIX})")
        files |= dict.fromkeys(replays)
    jobs = [
        AuditJob(
            report.directory / replay_file(name),
            report.key,
            report.signed.secret,
            leaks,
            report.expected.get(name),
            report.directory,
            report.faulty.get(name, ""),
        )
        for report in runs.values()
        for name in report.replays
    ]
    covered = {job.path.resolve() for job in jobs}  # `replays` may be a link
    alone = [file for file in files if file.resolve() not in covered]
    faults: list[str] = []
    folders = dict.fromkeys(file.absolute().parent for file in alone)
    signed = {one: _signed_beside(one.parent, published, faults) for one in folders}
    for file, (key, key_from) in _expected_keys(alone, published).items():
        secret = signed[file.absolute().parent].secret
        jobs.append(AuditJob(file, key, secret, leaks, key_from=key_from))
    faults += [f"{one.directory}/{fault}" for one in runs.values() for fault in one.faults]
    found_signed = [*(report.signed for report in runs.values()), *signed.values()]
    return AuditPlan(
        tuple(jobs),
        tuple(runs.values()),
        tuple(faults),
        tuple(
            f"no signed end of a run in {folder.parent} reveals the secret of these deals, so "
            f"nothing shows that they follow from manifest {published.manifest_sha256}"
            for folder, documents in signed.items()
            if published.manifest_sha256 is not None and documents.secret is None
        ),
        tuple(cause for one in found_signed for cause in one.causes),
    )


def check_kind(path: Path) -> None:
    """Raise UserError for a file that nobody could audit, such as a tournament file."""
    if is_other_file(path):
        raise UserError(f"{path}: not an ASARA replay; pass a replay (*{SUFFIX}) or a run's folder")


def audit_replays(jobs: Sequence[AuditJob], processes: int | None = None) -> Iterator[Verdict]:
    """Yield the verdict of each job, in job order. Raises UserError.

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
    found = {file.parent for name in RUN_MARKS for file in path.rglob(name)}
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
    marks = {name for name in RUN_MARKS if (directory / name).exists()}
    return marks <= signed and (directory / BUNDLE_MATCHES).is_file()


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


def _expected_keys(
    files: Sequence[Path], published: Published
) -> dict[Path, tuple[bytes | None, Path | None]]:
    """Return the key that must have signed each file, and where it was found.

    The key is the published key, or the key of the file's run. All files without a run must have
    the same key as the first of them. The key is None if none of these files has one.
    """
    if published.public_key is not None:
        return dict.fromkeys(files, (published.public_key, None))
    by_folder = {folder: _key_of_run(folder) for folder in {file.parent for file in files}}
    signers = (_signer(file) for file in files if by_folder[file.parent] is None)
    own = next(filter(None, signers), (None, None))
    return {file: by_folder[file.parent] or own for file in files}


def _key_of_run(folder: Path) -> tuple[bytes, Path] | None:
    """Return the public key stored in a folder of replays or in its parent."""
    for path in (folder / PUBLIC_KEY_FILE, folder.absolute().parent / PUBLIC_KEY_FILE):
        if path.is_file():
            return read_public_key(path), path
    return None


def _signer(path: Path) -> tuple[bytes, Path] | None:
    """Return the key that signed a replay; None if the file cannot be read."""
    try:
        file = parse_file(read_file(path))
    except ReplayError:
        return None
    return None if file.signature_fault() else (file.signature.public_key, path)
