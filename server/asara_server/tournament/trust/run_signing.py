"""Signs a run's manifest at its start, and its tree head at its end."""

from collections.abc import Sequence
from hashlib import sha256

from asara_server.eventlog.journal import Fact
from asara_server.replay.signing import SigningKey
from asara_server.tournament.run.directory import RunDirectory, RunDirectoryError
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult, utc_now
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.trust.manifest import MANIFEST, Manifest, changed_field
from asara_server.tournament.trust.signed_file import DocumentError, parse_document, sign
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
        self.manifest_sha256 = ""
        """SHA-256 of `manifest.json`, in hexadecimal; "" before `begin`."""

    def begin(self) -> Sequence[Fact]:
        """Return the facts with which a new run begins; a resumed run must have the same manifest.

        Raises RunDirectoryError.
        """
        found = self._directory.record.documents.get("manifest")
        if found is None:
            signed = sign(self._manifest, self._key)
            self.manifest_sha256 = signed.sha256
            return [signed.fact(MANIFEST)]
        self.manifest_sha256 = found.sha256
        path = self._directory.path
        try:
            begun = parse_document(found.content, Manifest)
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
        return []

    def end(
        self,
        standings: Standings,
        results: Sequence[MatchResult],
        *,
        out: dict[str, str],
        suspended: dict[str, str],
        tournament_secret: str | None,
    ) -> None:
        """Write the standings, and the signed tree head as the last row of the journal.

        Without a secret, the run was cut short.
        """
        directory = self._directory
        order = schedule_order(match.match_id for match in self._schedule)
        standings_sha256 = sha256(directory.write_standings(standings)).hexdigest()
        head = TreeHead(
            manifest_sha256=self.manifest_sha256,
            state="cut short" if tournament_secret is None else "finished",
            ended=utc_now(),
            scheduled=standings.matches.scheduled,
            played=standings.matches.played,
            void=standings.matches.void,
            attempts=len(results),
            root=root_text(results, order),
            results_sha256=directory.results_sha256(),
            standings_sha256=standings_sha256,
            journal_sha256=directory.journal.sha256(),
            out=out,
            suspended=suspended,
            tournament_secret=tournament_secret,
        )
        directory.note(sign(head, self._key).fact(TREE_HEAD))
        directory.export()
