"""The findings of an audit in words."""

from collections.abc import Iterator
from typing import Protocol

from asara_server.replay.signing import fingerprint
from asara_server.text import plain
from asara_server.tournament.run.audit_trust import KeySource, Published, Signed
from asara_server.tournament.run.manifest import Manifest
from asara_server.tournament.run.run_audit import RunReport

SINGLE_REPLAYS = (
    "Replays by themselves: only each match was checked, not that it belongs to a tournament. "
    "Audit the directory of the run, or add --inclusion."
)

_NEVER_CHECKED = (
    "the programs of the bots, what they printed, and the referee's reasons for crashes, starts "
    "that failed and void attempts"
)


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
    other = ""
    if held.manifest_sha256 is None:
        other = ", or name the published hash of the manifest (--manifest)"
    return (
        f"{title} is signed by its own key {signed.public_key.hex()}; nothing shows who holds it. "
        f"Compare it with the key that the organiser published (--key){other}."
    )


def single_key_warning(key: bytes) -> str:
    """Return a warning about a key that was found beside the replays, or in them."""
    return (
        f"The first replay is signed by its own key {key.hex()}; nothing shows who holds it. "
        "Compare it with the one that the organiser published, and name that with --key."
    )


def report_lines(report: RunReport, held: Published) -> Iterator[str]:
    """Yield what was found about a run, apart from its faults."""
    signed = report.signed
    if signed.manifest is None:
        yield f"{report.directory}: without a manifest that can be read, no result can be derived"
    else:
        yield f"{report.directory}: {plain(report.title)}: {report.state}"
    if signed.public_key is not None:
        source = signed.source.value
        yield f"  key {fingerprint(signed.public_key)}: {source}"
    if signed.manifest is not None:
        yield f"  manifest: {_manifest_words(report, held)}"
        yield f"  deal commitment: {_commitment_words(signed.manifest, report, held)}"
    for note in report.notes:
        yield f"  {note}"
    for text in (*report.unchecked, _NEVER_CHECKED):
        yield f"  not checked: {text}"


def _manifest_words(report: RunReport, held: Published) -> str:
    digest = report.manifest_sha256
    if held.manifest_sha256 is None:
        return f"{digest}, not compared with the one that was published (--manifest)"
    same = digest == held.manifest_sha256
    return f"{digest}, {'as published' if same else 'not the one that was published'}"


def _commitment_words(manifest: Manifest, report: RunReport, held: Published) -> str:
    text = plain(manifest.deal_commitment)
    if held.deal_commitment is not None:
        same = manifest.deal_commitment == held.deal_commitment
        return f"{text}, {'as published' if same else 'not the one that was published'}"
    if report.manifest_sha256 == held.manifest_sha256:
        return f"{text}, that of the published manifest"
    return f"{text}, not compared with the one that was published (--commitment)"
