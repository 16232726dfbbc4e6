"""How far ahead processes are needed."""

import pytest

from asara_game.rules import parse_rule_sets
from asara_server.tournament.config.block_kinds import BlockKind
from asara_server.tournament.execution.look_ahead import LookAhead
from asara_server.tournament.run.progress import PendingMatch
from asara_server.tournament.schedule.schedule import ScheduledMatch

BASIC = parse_rule_sets("basic")


class Ahead:
    """A look ahead over matches of ann and bob that begin one after another."""

    def __init__(
        self,
        start_up_s: dict[str, float],
        concurrency: int = 2,
        most: int = 99,
        kind: BlockKind = "independent",
    ) -> None:
        self.left = [
            PendingMatch(
                ScheduledMatch(
                    f"b{number // 2}-{number % 2 + 1}",
                    1,
                    BASIC,
                    ("ann", "bob"),
                    f"b{number // 2}",
                    kind,
                ),
                1,
            )
            for number in range(100)
        ]
        self.ahead = LookAhead(
            lambda: self.left, start_up_s.get, concurrency=concurrency, most=most
        )

    def begin(self) -> ScheduledMatch:
        match = self.left.pop(0).match
        self.ahead.begin_match(match)
        return match

    def matches(self, entry: str) -> list[str]:
        return [need.match_id for need in self.ahead.needs() if need.entry == entry]


def test_there_is_a_match_ahead_for_each_that_is_played_at_once() -> None:
    table = Ahead({}, concurrency=3)
    assert table.matches("ann") == table.matches("bob") == ["b0-1", "b0-2", "b1-1"]
    assert [need.seat for need in table.ahead.needs()] == [0, 1] * 3


def test_the_slower_the_start_and_the_shorter_the_matches_the_further_ahead() -> None:
    table = Ahead({"ann": 2.0, "bob": 0.3})
    table.ahead.finish_match(table.begin(), 0.5)
    assert len(table.matches("ann")) == 2 + 8  # so many begin during a start
    assert len(table.matches("bob")) == 2 + 1
    for _ in range(50):
        table.ahead.finish_match(table.begin(), 40.0)
    assert len(table.matches("ann")) == len(table.matches("bob")) == 2


def test_a_void_match_says_nothing_about_how_long_matches_last() -> None:
    table = Ahead({"ann": 2.0})
    before = table.matches("ann")
    table.ahead.finish_match(table.begin(), None)
    assert len(table.matches("ann")) == len(before)


def test_matches_that_may_begin_before_a_start_is_over_are_imminent() -> None:
    table = Ahead({"ann": 1.5})
    assert [need.imminent for need in table.ahead.needs() if need.entry == "ann"] == (
        [True] * 4 + [False]
    )
    assert [need.imminent for need in table.ahead.needs() if need.entry == "bob"] == [True, False]


def test_the_look_ahead_ends_somewhere() -> None:
    assert len(Ahead({"ann": 1000.0}, most=7).matches("ann")) == 7


@pytest.mark.parametrize("kind", ["mirrored", "duplicate"])
def test_no_process_is_needed_beside_the_only_match_with_its_deal(kind: BlockKind) -> None:
    """It could learn from the processes that play it what is hidden, and pass that on."""
    table = Ahead({"ann": 1.0}, concurrency=1, kind=kind)
    match = table.begin()
    assert table.matches("ann") == []
    table.ahead.finish_match(match, 1.0)
    table.begin()
    assert table.matches("ann") == ["b1-1"]
