"""Shows the findings of an audit in words."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from asara_server.replay.audit import Checked, Verdict
from asara_server.replay.signing import fingerprint
from asara_server.text import count, plain, plain_words
from asara_server.tournament.trust.audit import FoundKey
from asara_server.tournament.trust.audit_trust import KeySource, Published, Signed
from asara_server.tournament.trust.run_audit import RunReport

SINGLE_REPLAYS = (
    "To check that a replay belongs to a run, use --inclusion, which needs the run or a proof (a "
    "bundle has proofs in its folder `proofs`)."
)

_NEVER_CHECKED = (
    "the bots' programs and output, and the reasons that the referee gave for crashes, failed "
    "starts and void matches"
)


_REFEREES_WORD = (
    "arrival times of replies, crashes, lost connections and protocol violations, which only the "
    "referee saw (see `asara replay clock`)"
)

MOST_DESCRIBED = 8
"""Maximum number of separately audited replays for which each sound one is described."""


class HasSigned(Protocol):
    """Findings about signed documents."""

    @property
    def signed(self) -> Signed: ...


def key_warning(found: HasSigned, held: Published) -> str:
    """Return a warning if nothing shows whose key a run was signed with, otherwise ""."""
    signed = found.signed
    if signed.source is not KeySource.OWN or not signed.manifest_signed:
        return ""
    assert signed.manifest is not None
    assert signed.public_key is not None
    title = f"{plain(signed.manifest.title)!r}"
    other = (
        ""
        if held.manifest_sha256
        else ", or pass the published hash of the manifest with --manifest"
    )
    return (
        f"{title} is signed with key {signed.public_key.hex()}. Nothing outside the run confirms "
        "that this is the organiser's key. If the run is not yours, get the organiser's public "
        f"key and pass it with --public-key{other}."
    )


def single_key_warning(found: FoundKey) -> str:
    """Return a warning about a key that was found next to the replays, or inside them."""
    key = found.key.hex()
    where = (
        f"The first replay is signed with key {key}. Nothing outside the replay"
        if found.file is None
        else f"The expected key {key} is from {plain(str(found.file))}. Nothing else"
    )
    return (
        f"{where} confirms that this is the organiser's key. If the run is not yours, get the "
        "organiser's public key and pass it with --public-key."
    )


def sound_lines(path: Path, verdict: Verdict, found: FoundKey | None) -> Iterator[str]:
    """Yield what was checked in a sound replay that was audited separately, and with whose key."""
    checked = verdict.checked
    if checked is None:
        return
    yield f"{path}: passed"
    if found is None:
        given = "the one given with --public-key"
    elif found.file is None:
        given = "found in the replay itself"
    else:
        given = f"as in {plain(str(found.file))}"
    yield f"  signing key: {fingerprint(verdict.public_key)}, {given}"
    yield f"  match {checked.match_id}: {_course_words(checked)}"
    deal = "the deal matches its commitment"
    if checked.from_tournament_secret:
        deal += " and follows from the tournament secret"
    yield (
        f"  checked: every record is signed, and {deal}; playing the match again gives the same "
        "moves, clock charges, timeouts, results and messages to the seats"
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


def report_lines(report: RunReport, held: Published) -> Iterator[str]:
    """Yield the findings about a run, except its faults."""
    signed = report.signed
    if not signed.manifest_signed:
        yield f"{report.directory}: its manifest is not sound, so no result can be verified"
    else:
        yield f"{report.directory}: {plain(report.title)}, {report.state}"
    if signed.public_key is not None:
        source = signed.source.value
        yield f"  signing key: {fingerprint(signed.public_key)}, {source}"
    if signed.manifest is not None:
        yield f"  manifest: {_manifest_words(report, held)}"
    if signed.deal_commitment is not None:
        yield f"  deal commitment: {plain(signed.deal_commitment)}, from the manifest"
    for note in report.notes:
        yield f"  {note}"
    if report.ended and report.expected:
        yield (
            "  checked: the signatures of the manifest, the results and "
            f"{count(len(report.replays), 'replay')}"
        )
        yield "  checked: the schedule, deals, results and standings, by playing every match again"
    if report.unchecked_files:
        yield f"  not checked: {', '.join(report.unchecked_files)}"
    for text in (*report.unchecked, _NEVER_CHECKED):
        yield f"  not checked: {text}"


def verdict_words(*, runs: int, open_ended: int, single: int, faults: int) -> str:
    """Return the verdict on so many runs, some of them without a signed end, and single replays."""
    if faults:
        what, number = ("run", runs) if runs else ("replay", single)
        are = f"{what} is" if number == 1 else f"{what}s are"
        return f"The {are} NOT sound: {count(faults, 'fault')}."
    sentences = []
    if open_ended:
        lacks = "the run lacks" if runs == 1 else f"{open_ended} of {runs} runs lack"
        sentences.append(f"Nothing is wrong, but {lacks} a signed end.")
    elif runs:
        sentences.append("The run is sound." if runs == 1 else "The runs are sound.")
    if single:
        sentences.append(
            "Each replay is sound by itself. Whether it belongs to a run was not checked."
        )
    return " ".join(sentences)


def _manifest_words(report: RunReport, held: Published) -> str:
    digest = report.manifest_sha256
    if held.manifest_sha256 is None:
        return f"{digest}, not compared with a published hash (use --manifest)"
    same = digest == held.manifest_sha256
    return f"{digest}, {'as published' if same else 'which is not the published hash'}"
