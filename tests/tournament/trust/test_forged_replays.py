"""The audit names what the owner of a run changes in a replay and signs.

The owner holds the key, changes whatever he likes and signs all of it again, except for what was
published before the first match.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from asara_server.match.spec import ClockSettings, MatchSpec, Player
from asara_server.replay.file import read_replay
from tests.cli.command import asara
from tests.sizes import others_long
from tests.tournament.played_runs import (
    HEADER,
    Forger,
    other_edition,
    play_run,
    rules_of,
)
from tests.tournament.trust.forged_runs import (
    FIRST,
    THIRD,
    Played,
    assert_named,
)


def other_names(forger: Forger) -> None:
    players = (Player("ann", "1"), Player("cid", "2"))
    forger.play_again(FIRST, players=players)


def exchange_seats(forger: Forger) -> None:
    players = (Player("bob", "1"), Player("ann", "2"))
    forger.play_again(FIRST, players=players)


def other_edition_in_one_match(forger: Forger) -> None:
    forger.play_again(FIRST, rules=rules_of(other_edition(), forger.schedule[0]))


def other_deal(forger: Forger) -> None:
    forger.play_again(FIRST, secret=bytes(32))


def deal_of_another_block(forger: Forger) -> None:
    header = read_replay(forger.replay(THIRD)).header
    forger.play_again(FIRST, secret=header.deal_secret)


def fresh_processes(forger: Forger) -> None:
    players = (Player("ann", "1", "match"), Player("bob", "2", "match"))
    forger.play_again(FIRST, players=players)


OWNER: dict[str, tuple[Callable[[Forger], None], str]] = {
    "other names in a match": (
        other_names,
        rf"{FIRST}.asara: record 1 .*: entries: expected \('ann', 'bob'\) by manifest",
    ),
    "seats exchanged in a match": (
        exchange_seats,
        rf"{FIRST}.asara: record 1 .*: entries: expected .* found \('bob', 'ann'\)",
    ),
    "another edition in a match": (
        other_edition_in_one_match,
        rf"{FIRST}.asara: record 1 .*: edition: expected",
    ),
    "other clocks in a match": (
        lambda forger: forger.play_again(FIRST, clocks=ClockSettings(bank_s=90)),
        rf"{FIRST}.asara: record 1 .*: clocks.bank_us: expected 60000000 by manifest",
    ),
    "another start-up time in a match": (
        lambda forger: forger.play_again(FIRST, clocks=ClockSettings(start_up_s=1)),
        "clocks.start_up_us: expected 30000000 by manifest",
    ),
    "a deal that nobody committed to": (
        other_deal,
        f"{FIRST}.asara: .*the deal does not follow from the secret of the tournament",
    ),
    "the deal of another block": (
        deal_of_another_block,
        "the deal does not follow from the secret of the tournament",
    ),
    "a match outside its block": (
        lambda forger: forger.play_again(FIRST, shared_deal=""),
        f"{FIRST}.asara: record 1 .*: shared_deal: expected",
    ),
    "nonces in a deal that is not joint": (
        lambda forger: forger.play_again(FIRST, shared_deal="", nonces=(bytes(32),) * 2),
        f"{FIRST}.asara: record 1 .*: shared_deal: expected",
    ),
    "fresh processes in a match": (
        fresh_processes,
        rf"{FIRST}.asara: record 1 .*: processes: expected \('run', 'run'\) by manifest",
    ),
}


@pytest.mark.parametrize("forgery", others_long(OWNER, 3))
def test_a_replay_that_the_owner_changes_and_signs_is_named(
    played: Played, run: Path, forgery: str
) -> None:
    assert_named(played, run, *OWNER[forgery])


def test_a_joint_deal_without_nonces_is_named(tmp_path: Path) -> None:
    joint = 'blocks = "independent"\ndeals = "joint"\n'
    run = play_run(tmp_path, HEADER.replace("rounds = 2\n", joint))
    assert asara("audit", run).returncode == 0
    forger = Forger(run)
    name = forger.results[0].played_as
    spec: MatchSpec = read_replay(forger.replay(name)).header.spec()
    forger.play_again(name, joint=False, nonces=())
    forger.sign()
    done = asara("audit", run)
    assert done.returncode == 1
    assert "a nonce of every seat: expected True by manifest and schedule; found False" in (
        done.stdout
    )
    assert spec.nonces
