"""The audit names what the owner of a run changes in its manifest or its tree head and signs.

The owner holds the key, changes whatever he likes and signs all of it again, except for what was
published before the first match.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asara_game.rules import RULES_VERSION
from tests.sizes import others_long
from tests.tournament.played_runs import (
    Forger,
)
from tests.tournament.trust.forged_runs import (
    Played,
    assert_named,
    audited,
)


def test_a_run_that_its_owner_signs_again_unchanged_is_sound(played: Played, run: Path) -> None:
    Forger(run).sign()
    assert audited(played, run)[0] == 0


def manifest_with(**changes: object) -> Callable[[Forger], None]:
    def change(forger: Forger) -> None:
        forger.manifest = forger.manifest.model_copy(update=changes)

    return change


def new_entry(forger: Forger) -> None:
    remote = forger.manifest.entries[0].model_copy(update={"remote": True})
    entries = (remote, *forger.manifest.entries[1:])
    forger.manifest = forger.manifest.model_copy(update={"entries": entries})


def manifest_processes(forger: Forger) -> None:
    first, *others = forger.manifest.entries
    entries = (first.model_copy(update={"process_per": "match"}), *others)
    forger.manifest = forger.manifest.model_copy(update={"entries": entries})


OWNER: dict[str, tuple[Callable[[Forger], None], str]] = {
    "another title": (manifest_with(title="Final"), "manifest.json: not the manifest that was"),
    "other limits": (
        manifest_with(limits={"suspend_share": 1.0, "suspend_after": 1}),
        "manifest.json: not the manifest that was published",
    ),
    "more rejections forgiven": (
        manifest_with(rejections_forgiven=9),
        "rejections_forgiven: expected 9 by manifest and schedule",
    ),
    "another version of the rules": (
        manifest_with(rules_version=RULES_VERSION + 1),
        f"expected {RULES_VERSION + 1} by manifest and schedule; found {RULES_VERSION}",
    ),
    "another edition in the manifest": (
        manifest_with(edition_sha256="00" * 32),
        "run.json: edition_sha256: expected '0000",
    ),
    "another number of matches": (
        manifest_with(matches=11),
        "manifest.json: matches: expected 12 by its settings; found 11",
    ),
    "another schedule": (
        manifest_with(rounds=1),
        "manifest.json: schedule_sha256: expected",
    ),
    "an endless schedule": (
        manifest_with(schedule_rule="rotations", matches=10**9),
        "no schedule follows from it: 1000000000 matches are more than any run has",
    ),
    "endless rounds": (
        manifest_with(rounds=10**12),
        "no schedule follows from it: 6000000000000 matches are more than any run has",
    ),
    "another commitment": (
        manifest_with(deal_commitment="00" * 32),
        "manifest.json: not the manifest that was published",
    ),
    "a run that may end early": (
        manifest_with(may_end_early=True),
        "manifest.json: not the manifest that was published",
    ),
    "an entry called remote": (new_entry, "manifest.json: schedule_sha256: expected"),
    "fresh processes in the manifest": (
        manifest_processes,
        "run.json: process_per: expected .*'ann': 'match'",
    ),
    "joint deals": (manifest_with(deals="joint"), "a nonce of every seat: expected True"),
}


@pytest.mark.parametrize("forgery", others_long(OWNER, 3))
def test_a_manifest_that_the_owner_changes_and_signs_is_named(
    played: Played, run: Path, forgery: str
) -> None:
    assert_named(played, run, *OWNER[forgery])


HEADS: dict[str, tuple[dict[str, Any], str]] = {
    "a leaf dropped": ({"attempts": 12}, "attempts: expected 13 by results.jsonl; found 12"),
    "another root": ({"root": "00" * 32}, "tree_head.json: root: expected"),
    "a match more": ({"scheduled": 13}, "tree_head.json: scheduled: expected 12 by manifest.json"),
    "a match played more": ({"played": 13}, "tree_head.json: played: expected 12 by results"),
    "a void match": ({"void": 1}, "tree_head.json: void: expected 0 by results.jsonl; found 1"),
    "cut short": ({"state": "cut short"}, "run.json: state: expected 'cut short' by tree_head"),
    "a suspension": (
        {"suspended": {"ann": "suspended after it forfeited 9 of its first 10 matches"}},
        "tree_head.json: suspended: ann: expected 'no' by results.jsonl",
    ),
    "another secret": (
        {"tournament_secret": "00" * 32},
        "tree_head.json: the secret of the tournament does not open the commitment",
    ),
    "no secret": ({"tournament_secret": None}, "tree_head.json: tournament_secret: missing"),
    "another run.json": ({"run_sha256": "00" * 32}, "run.json: changed after the signing"),
}


@pytest.mark.parametrize("forgery", others_long(HEADS, 3))
def test_a_tree_head_that_the_owner_changes_and_signs_is_named(
    played: Played, run: Path, forgery: str
) -> None:
    changes, expected = HEADS[forgery]
    Forger(run).sign(**changes)
    status, output = audited(played, run)
    assert re.search(expected, output), output
    assert status == 1
