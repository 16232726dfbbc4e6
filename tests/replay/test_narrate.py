import random
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import pytest

from asara_codec.results import RejectionReason
from asara_game.actions import (
    Action,
    ChooseBuyer,
    KeepLitWindows,
    LayBuyers,
    ReturnLitWindow,
    SearchPile,
    TakeSection,
)
from asara_game.events import BuyersDispatched
from asara_game.knowledge.determinize import determinize
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import BuyerColour, Colour, DecisionKind, RuleSet, Section, SectionKind
from asara_server.journal.replay import Replay, ReplayError
from asara_server.journal.resimulate import Step, resimulated_steps
from asara_server.match.inputs import ForfeitRecord, Record, RejectionRecord, ReplyRecord
from asara_server.match.spec import Player
from asara_server.replay.narrate import narrate, narrate_steps
from tests.match.playouts import (
    EVERYTHING,
    WIDE_CASES,
    random_match,
    random_replay,
    random_spec,
    rules_for,
)

REPLAY = random_replay(EVERYTHING, 3, seed=5)
REJECTED = "gives a reply that is rejected (empty)"


class Unseen:
    """A state within another seat's turn, of which only that it lasts is public."""

    seat = 99
    kind = DecisionKind.SECTION

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"looked at {name} within another seat's turn")


SECRETS: list[Action] = [
    LayBuyers((BuyerColour.ORANGE, BuyerColour.ORANGE), True),
    KeepLitWindows((Colour.WHITE,)),
    ChooseBuyer(BuyerColour.BLUE),
    TakeSection(Section(SectionKind.TURRET, Colour.WHITE, True)),
    SearchPile(SectionKind.BASE),
    ReturnLitWindow(Colour.WHITE),
]


def hide(replay: Replay, seat: int, dice: random.Random) -> Iterator[Step]:
    """The steps of a match, with everything that `seat` cannot know replaced."""
    for record, events, state, decision_id, results in resimulated_steps(replay):
        shown: Any
        if state.seat in (seat, -1) or state.kind in (DecisionKind.SPACE, DecisionKind.BUYERS):
            shown = other_possibility(state, seat, dice)
        else:
            shown = Unseen()
        yield Step(
            record if getattr(record, "seat", seat) == seat else secret(record, dice),
            events,
            shown,
            decision_id if getattr(record, "seat", seat) == seat else dice.randrange(100),
            results,
        )


def other_possibility(state: State, seat: int, dice: random.Random) -> State:
    seen = view(state, seat)
    return state if seen.decision is None else determinize(seen, dice)


def secret(record: Record | None, dice: random.Random) -> Record | None:
    if isinstance(record, ReplyRecord):
        return record._replace(actions=(dice.choice(SECRETS),), bot_us=123, referee_us=456)
    if isinstance(record, RejectionRecord):
        return record._replace(reason=RejectionReason.UNKNOWN_ACTION, detail="another story")
    if isinstance(record, ForfeitRecord):
        return record._replace(detail="another story")
    return record


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_a_seats_account_tells_nothing_that_is_hidden_from_it(
    rule_sets: frozenset[RuleSet], seats: int
) -> None:
    replay = random_replay(rule_sets, seats, seed=4)
    for seat in range(seats):
        told = list(narrate(replay, seat))
        steps = hide(replay, seat, random.Random(seat))
        assert told == list(narrate_steps(replay.header, steps, seat))


def test_the_referees_account_tells_everybodys_secrets() -> None:
    everything = "\n".join(narrate(REPLAY))
    for seat in range(3):
        own = "\n".join(narrate(REPLAY, seat))
        for other in range(3):
            has = f"seat {other}  bot {other}  has "
            assert has in everything
            assert (has in own) == (other == seat)
    assert f"{REJECTED}: the reply carries no action" in everything
    assert "rejected" not in "\n".join(narrate(REPLAY, 0))
    assert f"{REJECTED}: the reply carries no action" in "\n".join(narrate(REPLAY, 2))


def test_years_are_headings_and_every_turn_is_told() -> None:
    lines = list(narrate(REPLAY, 1))
    assert lines[0] == "Match random-5, as seat 1 (bot 1) saw it"
    assert lines[1] == "Rules: pro+gifts+genie. Edition: Ravensburger 2010."
    assert [line.split(":")[0] for line in lines if line.startswith("Year")] == [
        "Year 1",
        "Year 2",
        "Year 3",
        "Year 4",
    ]
    turns = [line for line in lines if "  dispatches " in line or "(steward) dispatches " in line]
    events = [event for step in resimulated_steps(REPLAY) for event in step.events]
    assert len(turns) == sum(isinstance(event, BuyersDispatched) for event in events)
    assert any("forfeits (crash) during this turn; the steward plays on" in line for line in lines)
    assert any("(steward)" in line for line in lines)
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("width", [60, 150])
def test_lines_fit_the_terminal(width: int) -> None:
    names = ("short", "the-longest-name-that-is-allowed", "x")
    players = tuple(Player(name, name) for name in names)
    lines = list(narrate(random_replay(EVERYTHING, 3, seed=5, players=players), width=width))
    body = lines[lines.index("") :]
    assert max(map(len, body)) <= min(width, 100)
    assert not any(line.endswith("-") for line in body)
    assert not re.search(r"\d\n {4,}\w", "\n".join(body))  # a number and its unit


def test_turns_name_the_decisions_of_the_seats_whose_secrets_are_told() -> None:
    asked = {seat: sum(answered(REPLAY, seat)) for seat in range(3)}
    assert decisions_named(narrate(REPLAY)) == asked
    for seat in range(3):
        own = decisions_named(narrate(REPLAY, seat))
        assert own == {other: asked[other] * (other == seat) for other in range(3)}


def answered(replay: Replay, seat: int) -> Iterator[int]:
    """Yield the numbers of the decisions that a seat answered."""
    records = [r for r in replay.records if isinstance(r, ReplyRecord) and r.seat == seat]
    yield from range(1, len(records) + 1)


def decisions_named(lines: Iterable[str]) -> dict[int, int]:
    """Return the sum of the numbers of the decisions that an account names, by seat."""
    sums = dict.fromkeys(range(3), 0)
    text = re.sub(r"\n {5,}", " ", "\n".join(lines))
    for seat, first, last in re.findall(r"seat (.)  .*Decisions? (\d+)(?:–(\d+))?\.", text):
        sums[int(seat)] += sum(range(int(first), int(last or first) + 1))
    return sums


def test_prestige_is_added_up_to_the_result() -> None:
    text = " ".join(" ".join(narrate(REPLAY)).split())
    table = text[text.index("Result") :]
    for seat, end in enumerate(REPLAY.ends):
        finals = text.split("final evaluation")[1:]
        assert any(f"Prestige: {end.prestige}." in part for part in finals)
        assert f"seat {seat} bot {seat} {end.prestige} prestige" in table
    assert "forfeited (crash): exit code 1" in table


def test_there_is_no_such_seat() -> None:
    for seat in (-1, 3):
        with pytest.raises(ReplayError, match=f"no seat {seat}; this match has seats 0 to 2"):
            narrate(REPLAY, seat)


@pytest.mark.parametrize("replies", [14, 23, 24])  # seat 1 is in its turn
def test_a_forfeit_separates_the_moves_of_the_bot_from_those_of_the_steward(replies: int) -> None:
    spec = random_spec(rules_for(EVERYTHING, 3), random.Random(5), "forfeits")
    replay = random_match(spec, random.Random(5), replies=replies, quiet=True, first=1)
    steps = list(resimulated_steps(replay))
    last = next(i for i, step in enumerate(steps) if isinstance(step.record, ForfeitRecord))
    made = sum(isinstance(r, ReplyRecord) and r.seat == 1 for r in replay.records)
    for viewer in (None, 1):
        played = list(narrate_steps(replay.header, steps[:last], viewer))[:-2]
        account = list(narrate(replay, viewer))
        forfeit = next(i for i, line in enumerate(account) if "forfeits (crash)" in line)
        words = f"forfeits (crash); the steward plays on from decision {made + 1}"
        assert account[forfeit] == f"  seat 1  bot 1  {words}"
        extra = " ".join(account[len(played) : forfeit])
        assert account[: len(played)] == played
        assert re.fullmatch(rf"|  seat 1  bot 1  chooses [^;]*\. Decision {made}\.", extra)
        moves = [
            line for line in account[forfeit:] if re.match("  seat 1  bot 1  .*dispatches", line)
        ]
        assert all("  (steward) " in line for line in moves)
        assert sum("; the match is over" in line for line in account) == 1
