"""Further facts about a run: dates, commitments, keys, versions, processor time. Pure."""

import shlex
from collections.abc import Iterator
from hashlib import sha256

from asara_server.replay.signing import fingerprint
from asara_server.report.faults import end_of
from asara_server.report.model import Report
from asara_server.text import plain

Fact = tuple[str, str | int | float | bool]


def facts_of(report: Report) -> Iterator[Fact]:
    """Yield the facts by name and value; an empty value means unknown."""
    info, counts, times = report.info, report.standings.matches, report.times
    yield "title", info.title
    yield "state", info.state
    yield "started", info.started
    if info.ended:
        yield "ended", info.ended
    elif last := max(filter(None, map(end_of, report.results)), default=None):
        yield "last_end", last.isoformat()
    yield "scheduled", counts.scheduled
    yield "played", counts.played
    yield "blocks", counts.blocks
    yield "void", counts.void
    yield "ended_early", report.standings.ended_early
    yield "unconnected", ", ".join(report.standings.unconnected)
    if info.stalled_s is not None:
        yield "stalled_s", info.stalled_s
    yield "sandbox", info.sandbox
    yield from _costs(report)
    yield "deals", info.deals
    yield "deal_commitment", info.deal_commitment
    if report.over and report.publisher.full:
        yield from _secrets(report)
    yield "edition", report.publisher.reason(info.edition)
    yield "edition_sha256", info.edition_sha256
    yield "manifest_sha256", info.manifest_sha256
    if (key := report.files.public_key) is not None:
        yield "public_key", key.hex()
        yield "fingerprint", fingerprint(key)
    yield "asara", report.publisher.reason(info.asara)
    yield "replays_read", times.read
    yield "replays_missing", times.missing
    if report.over:
        manifest = plain(info.manifest_sha256)
        option = f" --manifest {shlex.quote(manifest)}" if manifest else ""
        yield "audit", f"asara audit .{option}"


def _secrets(report: Report) -> Iterator[Fact]:
    """Yield the sources of the deals, for a run that has finished and cannot be resumed."""
    info = report.info
    if info.tournament_secret is not None:
        yield "tournament_secret", info.tournament_secret
        yield "secret_matches", _opens(info.tournament_secret, info.deal_commitment)
    yield "seed", info.seed
    yield "seed_drawn", info.seed_drawn


def _opens(secret: str, commitment: str) -> bool:
    try:
        return sha256(bytes.fromhex(secret)).hexdigest() == commitment.lower()
    except ValueError:
        return False


def _costs(report: Report) -> Iterator[Fact]:
    """Yield how the processor time was spent, for a run that has ended."""
    costs = report.info.costs
    if not report.info.ended or costs is None or not costs.bots_cpu_s:
        return
    if costs.core_s:
        yield "cores_used", round(min(1.0, costs.cpu_s / costs.core_s), 4)
    yield "bots_share", round(costs.bots_cpu_s / costs.cpu_s, 4)
