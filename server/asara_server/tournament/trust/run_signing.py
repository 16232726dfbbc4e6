"""Signs a run's manifest at its start, and its tree head at its end."""

from collections.abc import Sequence
from hashlib import sha256

from asara_server.eventlog.journal import Fact
from asara_server.replay.signing import SigningKey
from asara_server.tournament.run.directory import RunDirectory, RunError
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult, utc_now
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.trust.manifest import MANIFEST, Manifest, changed_field
from asara_server.tournament.trust.signed_file import DocumentError, parse_document, sign
from asara_server.tournament.trust.tree_head import TREE_HEAD, TreeHead, root_text


def signed_beginning(directory: RunDirectory, manifest: Manifest, key: SigningKey) -> list[Fact]:
    """Return the facts with which a new run begins; a resumed run must have the same manifest.

    Raises RunError.
    """
    found = directory.record.documents.get("manifest")
    if found is None:
        return [sign(manifest, key).fact(MANIFEST)]
    path = directory.path
    try:
        begun = parse_document(found.content, Manifest)
    except DocumentError as error:
        raise RunError(f"{path / MANIFEST}: {error}") from None
    changed = changed_field(begun, manifest)
    if changed and begun.public_key != manifest.public_key:
        raise RunError(
            f"{path}: the replays of this run are signed with another key; pass that key with --key"
        )
    if changed:
        raise RunError(
            f"{path / MANIFEST}: the run cannot resume with other settings: {changed}; "
            "restore them, or start another run"
        )
    return []


def sign_end(
    directory: RunDirectory,
    key: SigningKey,
    schedule: Sequence[ScheduledMatch],
    results: Sequence[MatchResult],
    standings: Standings,
    *,
    out: dict[str, str],
    suspended: dict[str, str],
    tournament_secret: str | None,
) -> None:
    """Write the standings, and the signed tree head as the last row of the journal.

    `schedule` is the whole schedule of the manifest. Without a secret, the run was cut short.
    """
    standings_sha256 = sha256(directory.write_standings(standings)).hexdigest()
    head = TreeHead(
        manifest_sha256=directory.info.manifest_sha256,
        state="cut short" if tournament_secret is None else "finished",
        ended=utc_now(),
        scheduled=standings.matches.scheduled,
        played=standings.matches.played,
        void=standings.matches.void,
        attempts=len(results),
        root=root_text(results, schedule),
        results_sha256=directory.results_sha256(),
        standings_sha256=standings_sha256,
        journal_sha256=directory.journal.sha256(),
        out=out,
        suspended=suspended,
        tournament_secret=tournament_secret,
    )
    directory.note(sign(head, key).fact(TREE_HEAD))
    directory.export()
