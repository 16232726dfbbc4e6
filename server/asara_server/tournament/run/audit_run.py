"""Audits many replays, each against the key and the secret of the run that it lies in."""

import multiprocessing
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from asara_server.event_loop import seldom_collect
from asara_server.eventlog.replay import ReplayError
from asara_server.match.deal_secrets import commitment
from asara_server.replay.audit import Verdict, audit
from asara_server.replay.file import parse_file, read_file
from asara_server.replay.signing import PUBLIC_KEY_FILE, KeyFileError, read_public_key
from asara_server.tournament.run.directory import RunDirectoryError, read_info

_LEAK_WORLDS: Final = 2
"""Number of other worlds that are tried for every seat at every decision to find leaks."""

_FILES_AT_ONCE: Final = 16
"""Number of files that a process gets at a time."""

_FEW_FILES: Final = 8
"""Number of files up to which further processes are not worth their start."""


class AuditError(ValueError):
    """The audit cannot begin; the text says why."""


class AuditJob(NamedTuple):
    """A replay file, and what it is checked against."""

    path: Path
    public_key: bytes | None
    """Key that must have signed it; None if any may have."""
    tournament_secret: bytes | None
    """Secret from which its deal must derive; None if that cannot be checked."""
    leaks: bool
    """True if it is searched for leaks, too."""


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """The audit of some replays."""

    jobs: tuple[AuditJob, ...]
    trusted_key: bytes | None
    """Key of the first replay, if it is trusted because there is no other key."""
    faults: tuple[str, ...]
    """Runs whose secret is not the one that they committed to, in words."""
    unchecked: tuple[str, ...]
    """Runs whose deals cannot be checked yet, in words."""


def plan_audit(
    paths: Iterable[Path],
    *,
    public_key: bytes | None = None,
    published: str | None = None,
    leaks: bool = False,
) -> AuditPlan:
    """Plan the audit of replay files, and of all replays in directories; raises AuditError.

    Without a `public_key`, replays are checked against the key of their run. `published` is the
    commitment that was published before the first match, in lower-case hexadecimal; by default it
    is the one in `run.json`.
    """
    files = list(_find_replays(paths))
    keys, trusted_key = _expected_keys(files, public_key)
    secrets = _RunSecrets(published)
    jobs = tuple(
        AuditJob(file, key, secrets.of_replay(file), leaks)
        for file, key in zip(files, keys, strict=True)
    )
    faults = list(secrets.faults)
    if published is not None and not any(job.tournament_secret for job in jobs):
        faults.append(
            f"commitment {published}: no run.json beside the replays reveals a secret to open it"
        )
    return AuditPlan(jobs, trusted_key, tuple(faults), tuple(secrets.unchecked))


def audit_replays(jobs: Sequence[AuditJob], processes: int) -> Iterator[tuple[Path, Verdict]]:
    """Yield the path and the verdict of each job, in their order."""
    processes = min(processes, -(-len(jobs) // _FILES_AT_ONCE))
    if processes == 1 or len(jobs) <= _FEW_FILES:
        seldom_collect()
        yield from map(_audit_replay, jobs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, initializer=seldom_collect) as pool:
        try:
            yield from pool.map(_audit_replay, jobs, chunksize=_FILES_AT_ONCE)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _audit_replay(job: AuditJob) -> tuple[Path, Verdict]:
    try:
        verdict = audit(
            read_file(job.path),
            job.public_key,
            tournament_secret=job.tournament_secret,
            worlds=_LEAK_WORLDS if job.leaks else 0,
        )
    except ReplayError as error:
        verdict = Verdict(str(error))
    except Exception as error:  # noqa: BLE001 - one odd file must not keep the others unchecked
        verdict = Verdict(f"cannot be played again: {type(error).__name__}: {error}")
    return job.path, verdict


def _find_replays(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield all replays, each once, in the order in which they are named."""
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise AuditError(f"{path}: no such file or directory")
        found = sorted(path.rglob("*.asara")) if path.is_dir() else [path]
        if not found:
            raise AuditError(f"{path}: holds no replay (*.asara)")
        for file in found:
            if file not in seen:
                seen.add(file)
                yield file


# Keys


def _expected_keys(
    files: Sequence[Path], public_key: bytes | None
) -> tuple[list[bytes | None], bytes | None]:
    """Return the key that must have signed each file, and the key that is trusted for want of one.

    The key is the given one or that of the file's run. For files without either it is the one that
    signed the first of them.
    """
    if public_key is not None:
        return [public_key] * len(files), None
    folders = dict.fromkeys(file.parent for file in files)
    by_folder = {folder: _key_of_run(folder) for folder in folders}
    keys = [by_folder[file.parent] for file in files]
    signers = (_signer(file) for file, key in zip(files, keys, strict=True) if key is None)
    trusted = next(filter(None, signers), None)
    return [key or trusted for key in keys], trusted


def _key_of_run(folder: Path) -> bytes | None:
    """Return the public key in a folder of replays or in its parent."""
    for path in (folder / PUBLIC_KEY_FILE, folder.absolute().parent / PUBLIC_KEY_FILE):
        if path.is_file():
            try:
                return read_public_key(path)
            except KeyFileError as error:
                raise AuditError(str(error)) from None
    return None


def _signer(path: Path) -> bytes | None:
    """Return the key that signed a replay; None if the file cannot be read."""
    try:
        file = parse_file(read_file(path))
    except ReplayError:
        return None
    return file.signature.public_key if file.signed else None


# Secrets


class _RunSecrets:
    """The secrets from which the deals of runs must derive, revealed at the end of each run."""

    def __init__(self, published: str | None) -> None:
        self._published = published
        self._by_folder: dict[Path, bytes | None] = {}
        self.faults: list[str] = []
        self.unchecked: list[str] = []

    def of_replay(self, file: Path) -> bytes | None:
        """Return the secret of the run that a replay lies in; None if it has none."""
        folder = file.absolute().parent
        if folder not in self._by_folder:
            run = folder.parent / "run.json"
            self._by_folder[folder] = self._open(run) if run.is_file() else None
        return self._by_folder[folder]

    def _open(self, run: Path) -> bytes | None:
        """Return the secret in a `run.json`, after checking it against the commitment."""
        try:
            info = read_info(run.parent)
            secret = bytes.fromhex(info.tournament_secret or "")
        except (RunDirectoryError, ValueError):
            self.faults.append(f"{run}: cannot be read, or its secret is not valid")
            return None
        if not secret:
            self.unchecked.append(
                f"{run}: the secret of the tournament is not revealed yet, so it cannot be checked "
                "that the deals derive from it"
            )
            return None
        expected = self._published or info.deal_commitment
        found = commitment(secret).hex()
        if found != expected:
            self.faults.append(
                f"{run}: the secret of the tournament does not open the commitment: expected "
                f"{expected}, found {found}"
            )
        return secret
