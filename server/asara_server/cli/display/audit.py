"""The findings of an audit in words."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from asara_server.replay.audit import Checked, Verdict
from asara_server.replay.signing import fingerprint
from asara_server.text import count, plain, plain_words
from asara_server.tournament.run.audit_trust import KeySource, Published, Signed
from asara_server.tournament.run.run_audit import RunReport

SINGLE_REPLAYS = (
    "Single replays: only the matches were checked, not that they belong to a tournament. "
    "`asara audit FILE --inclusion` checks that as well, with the run directory or with a proof, "
    "such as those in the folder `proofs` of a bundle."
)

_NEVER_CHECKED = (
    "the programs of the bots, what they printed, and the referee's reasons for crashes, failed "
    "starts and void attempts"
)


_REFEREES_WORD = (
    "when replies arrived, crashes, lost streams and violations of the protocol: the referee's "
    "word, see `asara replay clock`"
)

MOST_DESCRIBED = 8
"""Number of replays by themselves up to which each sound one is described."""


class HasSigned(Protocol):
    """Findings about signed documents."""

    @property
    def signed(self) -> Signed: ...


def key_warning(found: HasSigned, held: Published) -> str:
    """Return a warning if nothing shows who holds the key of a run, otherwise ""."""
    signed = found.signed
    if signed.source is not KeySource.OWN or signed.public_key is None:
        return ""
    title = f"{plain(signed.manifest.title)!r}" if signed.manifest else "The run"
    other = "" if held.manifest_sha256 else ", or the published hash of the manifest (--manifest)"
    return (
        f"{title} is signed by its own key {signed.public_key.hex()}; nothing shows whose key it "
        "is. If the run is not yours, pass the key that the organiser published "
        f"(--public-key){other}."
    )


def single_key_warning(key: bytes) -> str:
    """Return a warning about a key that was found beside the replays, or in them."""
    return (
        f"The first replay is signed by its own key {key.hex()}; nothing shows whose key it is. "
        "If the run is not yours, pass the key that the organiser published (--public-key)."
    )


def sound_lines(path: Path, verdict: Verdict, held: Published) -> Iterator[str]:
    """Yield what was checked of a sound replay that was audited by itself, and by whose key."""
    checked = verdict.checked
    if checked is None:
        return
    yield f"{path}: sound"
    given = (
        "given with --public-key"
        if held.public_key is not None
        else "its own; nothing shows whose key it is"
    )
    yield f"  signed by key {fingerprint(verdict.public_key)}: {given}"
    yield f"  match {checked.match_id}: {_course_words(checked)}"
    deal = "the deal matches its commitment"
    if checked.from_tournament_secret:
        deal += " and follows from the secret of its run"
    yield (
        f"  checked: every record is signed; {deal}; when replayed, every move, clock charge, "
        "time-out, result and message to a seat is the same"
    )
    yield f"  not checked: {_REFEREES_WORD}"


def _course_words(checked: Checked) -> str:
    parts = [_replies(checked.replies, "")]
    if checked.rejections:
        parts.append(count(checked.rejections, "rejection"))
    if checked.late_replies:
        parts.append(_replies(checked.late_replies, "late "))
    parts += [
        f"seat {seat} forfeited ({plain_words(kind.name)})" for seat, kind in checked.forfeits
    ]
    return ", ".join(parts)


def _replies(number: int, kind: str) -> str:
    return f"{number} {kind}{'reply' if number == 1 else 'replies'}"


def report_lines(report: RunReport, held: Published, *, sound: bool) -> Iterator[str]:
    """Yield what was found about a run, apart from its faults; `sound` if there are none at all."""
    signed = report.signed
    if signed.manifest is None:
        yield f"{report.directory}: its manifest cannot be read, so no result can be verified"
    else:
        yield f"{report.directory}: {plain(report.title)}: {report.state}"
    if signed.public_key is not None:
        source = signed.source.value
        yield f"  key {fingerprint(signed.public_key)}: {source}"
    if signed.manifest is not None:
        yield f"  manifest: {_manifest_words(report, held)}"
        yield f"  deal commitment: {plain(signed.manifest.deal_commitment)}, as in the manifest"
    for note in report.notes:
        yield f"  {note}"
    if sound and report.ended:
        yield (
            "  checked: this key signed the manifest, the results and "
            f"{count(len(report.replays), 'replay')}; schedule, deals, standings and every "
            "match, played again, agree with the files of the run"
        )
    for text in (*report.unchecked, _NEVER_CHECKED):
        yield f"  not checked: {text}"


def _manifest_words(report: RunReport, held: Published) -> str:
    digest = report.manifest_sha256
    if held.manifest_sha256 is None:
        return f"{digest}, not compared with a published hash, which --manifest takes"
    same = digest == held.manifest_sha256
    return f"{digest}, {'as published' if same else 'not the one that was published'}"
