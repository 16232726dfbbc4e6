"""Compares the documents of a run with its manifest and its signed tree head. Pure."""

import json
import math
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import zip_longest
from typing import Any, Final

from asara_game.bounded_toml import parse_toml
from asara_server.eventlog.describe import value_words
from asara_server.match.deal_secrets import commitment, tournament_secret
from asara_server.replay.signing import PUBLIC_KEY_FILE, public_key_pem
from asara_server.text import plain
from asara_server.tournament.config.entry_folders import name_of_bot
from asara_server.tournament.config.tournament_file import LARGEST_FILE, Limits
from asara_server.tournament.run.directory import JOURNAL, RESULTS, STANDINGS
from asara_server.tournament.run.run_record import RUN_INFO, json_bytes
from asara_server.tournament.run.suspension import Suspensions
from asara_server.tournament.schedule.looks import looks_at
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.trust.audit_trust import Signed
from asara_server.tournament.trust.manifest import MANIFEST, Manifest, schedule_bytes
from asara_server.tournament.trust.run_files import TOURNAMENT, RunFiles
from asara_server.tournament.trust.tree_head import TREE_HEAD, TreeHead, root_text


def derived_schedule(manifest: Manifest, faults: list[str]) -> list[ScheduledMatch]:
    """Return the schedule derived from the manifest, adding any faults."""
    try:
        schedule = manifest.planned_matches()
    except (ValueError, ArithmeticError, LookupError) as error:
        faults.append(f"{MANIFEST}: no schedule follows from it: {error}")
        return []
    if (digest := sha256(schedule_bytes(schedule)).hexdigest()) != manifest.schedule_sha256:
        faults.append(
            f"{MANIFEST}: schedule_sha256: expected {digest} by its entries and settings; found "
            f"{manifest.schedule_sha256}: another schedule, or that of another version of asara"
        )
    if len(schedule) != manifest.matches:
        faults.append(
            mismatch(f"{MANIFEST}: matches", len(schedule), manifest.matches, "its settings")
        )
    if manifest.looks and manifest.looks != (looks := looks_at(schedule)):
        found, wanted = (", ".join(map(str, one)) for one in (manifest.looks, looks))
        faults.append(mismatch(f"{MANIFEST}: looks", wanted, found, "its schedule"))
    return schedule


def tournament_faults(files: RunFiles, signed: Signed, manifest: Manifest) -> Iterator[str]:
    """Yield faults of the tournament file, the seed and the public key."""
    expected = manifest.tournament_sha256
    if expected is None and files.tournament is not None:
        yield f"{TOURNAMENT}: extra: the run began without a tournament file"
    elif expected is not None and files.tournament is None:
        yield f"{TOURNAMENT}: missing"
    elif files.tournament is not None and sha256(files.tournament).hexdigest() != expected:
        yield f"{TOURNAMENT}: changed after the run began: its SHA-256 is not that in {MANIFEST}"
    elif files.tournament is not None:
        yield from _entry_faults(files.tournament, manifest)
    if files.info is not None:
        secret = tournament_secret(files.info.seed)
        if commitment(secret).hex() != manifest.deal_commitment:
            yield f"{RUN_INFO}: seed: does not lead to the deals of {MANIFEST}"
    if files.public_pem is not None and signed.public_key is not None:
        try:
            wanted = public_key_pem(signed.public_key)
        except ValueError:
            wanted = b""
        if files.public_pem != wanted:
            yield f"{PUBLIC_KEY_FILE}: not the key that signed {MANIFEST}, or its text was changed"


def _entry_faults(tournament: bytes, manifest: Manifest) -> Iterator[str]:
    """Yield differences between the manifest's entries and the tournament file's.

    Which entries the folders contained, and the content of each `bot.toml`, is known only from the
    manifest, because each `bot.toml` belongs to its author.
    """
    try:
        tables = parse_toml(tournament, LARGEST_FILE)
    except ValueError as error:
        yield f"{TOURNAMENT}: {error}"
        return
    listed = [table for table in tables.get("entries", []) if isinstance(table, dict)]
    names, own = [], []
    for table, entry in zip_longest(listed, manifest.entries[: len(listed)]):
        in_folder = entry is not None and entry.folder is not None
        by_bot_file = not table.keys() & {"bot", "command", "token"}
        usual = entry.name if in_folder and by_bot_file else None
        names.append(table.get("name", name_of_bot(table) if "bot" in table else usual))
        if entry is not None and in_folder == by_bot_file:
            own.append(entry.name)
    further = manifest.entries[len(listed) :]
    own += [entry.name for entry in further if entry.folder is None]
    if names != own:
        yield mismatch(f"{MANIFEST}: entries", tuple(names), tuple(own), TOURNAMENT)
    if any(entry.folder is not None for entry in further) and "entries_from" not in tables:
        yield f"{MANIFEST}: entries: from folders, although {TOURNAMENT} names no entries_from"


def head_faults(
    files: RunFiles, head: TreeHead, manifest: Manifest, schedule: Sequence[ScheduledMatch]
) -> Iterator[str]:
    """Yield hashes and numbers in the signed tree head that do not follow from the run."""
    if files.standings and sha256(files.standings).hexdigest() != head.standings_sha256:
        yield f"{STANDINGS}: changed after the signing: its SHA-256 is not that in {TREE_HEAD}"
    if files.journal_sha256 != head.journal_sha256:
        yield f"{JOURNAL}: changed after the signing: its SHA-256 is not that in {TREE_HEAD}"
    results = files.results
    played = {result.match_id for result in results if not result.void}
    void = {result.match_id for result in results if result.void} - played
    for key, derived in (
        ("results_sha256", files.results_sha256),
        ("attempts", len(results)),
        ("root", root_text(results, schedule)),
        ("played", len(played)),
        ("void", len(void)),
    ):
        if (stated := getattr(head, key)) != derived:
            yield mismatch(f"{TREE_HEAD}: {key}", derived, stated, RESULTS)
    yield from _suspension_faults(files, head, manifest, schedule)
    if head.scheduled != manifest.matches and not manifest.may_end_early:
        yield mismatch(f"{TREE_HEAD}: scheduled", manifest.matches, head.scheduled, MANIFEST)


def _suspension_faults(
    files: RunFiles, head: TreeHead, manifest: Manifest, schedule: Sequence[ScheduledMatch]
) -> Iterator[str]:
    """Yield entries whose suspension, or lack of suspension, contradicts the results."""
    try:
        limits = {name: manifest.limits[name] for name in ("suspend_share", "suspend_after")}
        suspensions = Suspensions(schedule, Limits.model_validate(limits))
    except (KeyError, ValueError):
        yield f"{MANIFEST}: limits: not those of a tournament file"
        return
    for result in files.results:
        suspensions.record_result(result)
    for name in manifest.entry_names:
        expected, found = suspensions.suspended.get(name), head.suspended.get(name)
        if expected != found and name not in head.out:
            place = f"{TREE_HEAD}: suspended: {name}"
            yield mismatch(place, expected or "no", found or "no", RESULTS)


def mismatch(place: str, expected: object, found: object, source: str) -> str:
    """Return a sentence about a value that differs from the value derived from another file."""
    return f"{place}: expected {_words(expected)} by {source}; found {_words(found)}"


def _words(value: Any) -> str:
    return value_words(tuple(map(str, value)) if isinstance(value, tuple) else value)


_TOLERANCE: Final = 2e-6
"""Maximum difference of two numbers due to different versions of numerical libraries."""

_LONGEST: Final = 60
"""Maximum characters shown of a value or a key."""


def standings_fault(found: bytes, computed: Standings) -> Iterator[str]:
    """Yield the first value of `standings.json` that does not follow from the results.

    `computed` are the standings computed from the results.
    """
    expected = json_bytes(computed)
    try:
        values = dict(_values("", json.loads(found)))
    except (ValueError, RecursionError):
        yield f"{STANDINGS}: cannot be read: not JSON"
        return
    wanted = dict(_values("", json.loads(expected)))
    for place in [*wanted, *values]:
        if place not in wanted or place not in values:
            yield f"{STANDINGS}: {place}: {'missing' if place in wanted else 'extra'}"
            return
        if not _are_equal(wanted[place], values[place]):
            yield (
                f"{STANDINGS}: {place}: expected {_short(wanted[place])} by the results; "
                f"found {_short(values[place])}"
            )
            return
    if _form(found) != _form(expected):
        yield f"{STANDINGS}: not written as asara writes it: its text was changed"


def _values(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values in JSON and the lengths of its lists, each with its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(f"{place}.{plain(key, _LONGEST)}".lstrip("."), inner)
    elif isinstance(value, list):
        yield f"length of {place}", len(value)
        for index, inner in enumerate(value):
            yield from _values(f"{place}[{index}]", inner)
    else:
        yield place, value


def _are_equal(expected: object, found: object) -> bool:
    """Compare two values; numbers may differ by the tolerance."""
    if isinstance(expected, float) and isinstance(found, int | float):
        return math.isclose(expected, found, rel_tol=0, abs_tol=_TOLERANCE)
    return type(expected) is type(found) and expected == found


def _form(text: bytes) -> bytes:
    """Return a JSON text with every digit replaced, so that texts can be compared by form."""
    return b"".join(line.split(b":")[0] + b"\n" for line in text.split(b"\n"))


def _short(value: object) -> str:
    return plain(json.dumps(value, ensure_ascii=False), _LONGEST)
