"""Writes and signs a run's manifest at its start, and its tree head at its end."""

from collections.abc import Sequence
from hashlib import sha256

from asara_server.replay.signing import SigningKey
from asara_server.tournament.run.directory import RunDirectory, RunDirectoryError, RunInfo
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.trust.manifest import MANIFEST, Manifest, changed_field
from asara_server.tournament.trust.signed_file import (
    DocumentError,
    SignedBytes,
    parse_document,
    read_signed_bytes,
    signature_name,
    write_signed,
)
from asara_server.tournament.trust.tree_head import TREE_HEAD, TreeHead, root_text, schedule_order


class RunSigner:
    """Signs one run with the referee's key."""

    def __init__(
        self,
        directory: RunDirectory,
        key: SigningKey,
        manifest: Manifest,
        schedule: Sequence[ScheduledMatch],
    ) -> None:
        self._directory = directory
        self._key = key
        self._manifest = manifest
        self._schedule = tuple(schedule)
        self._manifest_sha256 = ""

    @property
    def manifest_sha256(self) -> str:
        """SHA-256 of `manifest.json`, in hexadecimal; "" until the manifest is written."""
        return self._manifest_sha256

    def begin(self) -> None:
        """Write the manifest of a new run."""
        path = self._directory.path / MANIFEST
        self._manifest_sha256 = write_signed(path, self._manifest, self._key).sha256

    def resume(self) -> None:
        """Check that a resumed run has the same manifest, and withdraw the signed end of its last
        session.

        Raises RunDirectoryError.
        """
        path = self._directory.path
        signed = self._signed_manifest()
        try:
            begun = parse_document(signed.content, Manifest)
        except DocumentError as error:
            raise RunDirectoryError(f"{path / MANIFEST}: {error}") from None
        if changed := changed_field(begun, self._manifest):
            raise RunDirectoryError(
                f"{path / MANIFEST}: the run cannot resume with other settings: {changed}; "
                "restore them, or start another run"
            )
        self._manifest_sha256 = signed.sha256
        for name in (TREE_HEAD, signature_name(TREE_HEAD), "standings.json"):
            (path / name).unlink(missing_ok=True)

    def _signed_manifest(self) -> SignedBytes:
        path = self._directory.path / MANIFEST
        try:
            signed = read_signed_bytes(path)
        except DocumentError as error:
            raise RunDirectoryError(f"{path}: {error}") from None
        if signed is None:
            raise RunDirectoryError(
                f"{path}: no such file; it was removed: restore it, or start another run"
            )
        if not signed.signed_by(self._key.public):
            raise RunDirectoryError(
                f"{path}: was changed after it was signed, or {signature_name(MANIFEST)} was; "
                "restore both, or start another run"
            )
        return signed

    def end(self, info: RunInfo, standings: Standings, results: Sequence[MatchResult]) -> None:
        """Write the standings, `run.json` and the signed tree head, in a safe order."""
        assert info.state in {"finished", "cut short"}
        directory = self._directory
        order = schedule_order(match.match_id for match in self._schedule)
        standings_sha256 = sha256(directory.write_standings(standings)).hexdigest()
        head = TreeHead(
            manifest_sha256=self._manifest_sha256,
            state=info.state,
            ended=info.ended or "",
            scheduled=info.scheduled,
            played=standings.matches.played,
            void=standings.matches.void,
            attempts=len(results),
            root=root_text(results, order),
            results_sha256=directory.results_sha256(),
            standings_sha256=standings_sha256,
            journal_sha256=directory.journal.sha256(),
            run_sha256=sha256(info.content()).hexdigest(),
            out=info.out,
            suspended=info.suspended,
            tournament_secret=info.tournament_secret,
        )
        # run.json is last: a run that it calls finished has a signed end.
        write_signed(directory.path / TREE_HEAD, head, self._key)
        directory.write_info(info)
