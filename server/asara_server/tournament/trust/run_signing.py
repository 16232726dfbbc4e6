"""Signs a run's manifest at its start, and its tree head at its end."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from asara_server.eventlog.journal import Fact
from asara_server.replay.signing import SigningKey
from asara_server.tournament.run.directory import RunDirectory, RunDirectoryError, RunInfo
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.trust.manifest import MANIFEST, Manifest, changed_field
from asara_server.tournament.trust.signed_file import (
    DocumentError,
    parse_document,
    sign,
    signature_name,
)
from asara_server.tournament.trust.tree_head import TREE_HEAD, TreeHead, root_text, schedule_order

_MANIFEST: Final = "manifest"
"""Kind of the fact with the signed manifest."""


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
        self.manifest_sha256 = ""
        """SHA-256 of `manifest.json`, in hexadecimal; "" before `begin`."""

    def begin(self) -> Sequence[Fact]:
        """Return the facts with which a new run begins; a resumed run must have the same manifest.

        Withdraws the signed end of its last session. Raises RunDirectoryError.
        """
        found = [fact for fact in self._directory.journal.facts if fact.kind == _MANIFEST]
        if not found:
            signed = sign(self._manifest, self._key)
            self.manifest_sha256 = signed.sha256
            return [signed.fact(MANIFEST)]
        content = found[0].values["content"].encode()
        self.manifest_sha256 = sha256(content).hexdigest()
        path = self._directory.path
        try:
            begun = parse_document(content, Manifest)
        except DocumentError as error:
            raise RunDirectoryError(f"{path / MANIFEST}: {error}") from None
        changed = changed_field(begun, self._manifest)
        if changed and begun.public_key != self._manifest.public_key:
            raise RunDirectoryError(
                f"{path}: the replays of this run are signed with another key; pass that key with "
                "--key"
            )
        if changed:
            raise RunDirectoryError(
                f"{path / MANIFEST}: the run cannot resume with other settings: {changed}; "
                "restore them, or start another run"
            )
        for name in (TREE_HEAD, signature_name(TREE_HEAD), "standings.json"):
            (path / name).unlink(missing_ok=True)
        return []

    def end(self, info: RunInfo, standings: Standings, results: Sequence[MatchResult]) -> None:
        """Write the standings, `run.json` and the signed tree head, in a safe order."""
        assert info.state in {"finished", "cut short"}
        directory = self._directory
        order = schedule_order(match.match_id for match in self._schedule)
        standings_sha256 = sha256(directory.write_standings(standings)).hexdigest()
        head = TreeHead(
            manifest_sha256=self.manifest_sha256,
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
        directory.write_info(info, sign(head, self._key).fact(TREE_HEAD))
