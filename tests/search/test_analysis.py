"""Prices of decisions and the luck of draws."""

import random
from collections.abc import Iterator
from functools import cache

import pytest

from asara_game import History, Worlds
from asara_game.actions import Action
from asara_game.deal import Deal
from asara_game.engine import apply, apply_one, new_match
from asara_game.knowledge.determinize import determinize
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import Area, DecisionKind
from asara_search.analysis import (
    BUDGETS,
    Budget,
    DecisionPrice,
    DecisionPricer,
    Estimate,
    Luck,
    Priced,
    deal_luck,
    draw_luck,
    is_draw,
    turn_course,
)
from asara_search.analysis.decision_price import label_of
from asara_search.analysis.statistics import Sums, expected_scores, scale_of
from asara_search.policies import GreedyPolicy, RandomPolicy
from tests.game.table import rules

TINY = Budget(candidates=3, choosing=6, years=1, pricing=2, doubtful=4, luck=2)
BASIC = rules("basic", 2)


def late(rule_sets: str = "basic", seats: int = 2, seed: int = 1) -> Iterator[State]:
    """Yield the states of a random match in the last year, where playouts are short."""
    state, _ = new_match(rules(rule_sets, seats), Deal(random.Random(seed).randbytes(32)))
    dice = random.Random(seed)
    while state.seat >= 0:
        if state.year == 4:
            yield state
        apply(state, RandomPolicy().choose(state, dice))


def priced(true: State, seen: State, chosen: Action, budget: Budget = TINY) -> DecisionPrice:
    """Price a decision from the seat's view in another state."""
    worlds = Worlds(view(seen, true.seat))
    return DecisionPricer(true.rules, budget).price(worlds.sample, true.legal, chosen, "m/0/1/0")


@pytest.mark.parametrize(("rule_sets", "seats"), [("basic", 2), ("pro+gifts+genie", 4)])
def test_a_price_depends_on_nothing_hidden(rule_sets: str, seats: int) -> None:
    dice = random.Random(2)
    for number, state in enumerate(late(rule_sets, seats)):
        if number % 6 == 0:
            other = determinize(view(state, state.seat), dice)
            assert other.hands != state.hands or other.piles != state.piles
            chosen = state.legal[-1]
            assert priced(state, other, chosen) == priced(state, state, chosen)


def test_the_chosen_action_is_among_the_candidates_and_costs_nothing_if_it_is_the_best() -> None:
    state = next(late())
    for chosen in state.legal[:: len(state.legal) // 4]:
        price = priced(state, state, chosen)
        by_action = {one.action: one for one in price.candidates}
        assert chosen in by_action
        assert len(by_action) == len(price.candidates) <= TINY.candidates + 1
        assert {one.action for one in price.candidates if one.pricing} == {chosen, price.best}
        if price.best == chosen:
            assert price.loss == Estimate(0.0, 0.0, 0)
    found = priced(state, state, state.legal[0]).best
    assert priced(state, state, found).loss == Estimate(0.0, 0.0, 0)


def test_a_blunder_is_found_and_the_best_action_is_none() -> None:
    """In the last turn of a close match, the seat can win or give its turn away."""
    dice = random.Random(1)
    budget = Budget(candidates=30, choosing=90, years=1, pricing=8, doubtful=16, luck=1)
    found = [state.copy() for state in last_turns(25)]
    labels = []
    for state in found:
        idle = next(a for a in state.legal if area_of(a) is Area.COLOURED_BUILDING)
        labels.append(priced(state, state, idle, budget).label)
        worlds = [determinize(view(state, state.seat), dice) for _ in range(20)]
        best = max(state.legal, key=lambda action: sum(won(one, action) for one in worlds))
        assert priced(state, state, best, budget).label == ""
    assert "blunder" in labels


def area_of(action: Action) -> Area | None:
    return getattr(getattr(action, "space", None), "area", None)


def won(state: State, action: Action) -> float:
    """Score of the seat after the action in the last turn of the match."""
    seat, after = state.seat, state.copy()
    apply_one(after, action)
    while after.seat >= 0:
        apply(after, GreedyPolicy(after.rules).choose(after, random.Random(0)))
    return expected_scores(after.prestige, 0.0)[seat]


def last_turns(matches: int) -> Iterator[State]:
    greedy = GreedyPolicy(BASIC)
    for seed in range(matches):
        state, _ = new_match(BASIC, Deal(random.Random(seed).randbytes(32)))
        while state.seat >= 0:
            if state.kind is DecisionKind.SPACE and scale_of(state, 1.0) == 1.0:
                yield state
                break
            apply(state, greedy.choose(state, random.Random(0)))


@pytest.mark.parametrize(
    ("mean", "error", "label"),
    [
        (0.06, 0.001, "inaccuracy"),
        (0.06, 0.006, ""),
        (0.15, 0.02, "mistake"),
        (0.15, 0.04, "inaccuracy"),
        (0.5, 0.1, "blunder"),
        (-0.5, 0.0, ""),
    ],
)
def test_a_label_needs_a_loss_that_is_certainly_above_its_limit(
    mean: float, error: float, label: str
) -> None:
    assert label_of(Estimate(mean, error, 9)) == label


def test_a_label_needs_all_worlds_of_its_budget() -> None:
    """The standard error of a loss in six worlds is too uncertain for a label."""
    for budget in BUDGETS.values():
        pricer = DecisionPricer(BASIC, budget)
        for worlds in range(budget.pricing, budget.doubtful):
            for error in (0.0, 0.01, 0.2):
                least = Estimate(0.051 + 2 * error, error, worlds)
                assert label_of(least)
                assert pricer._is_doubtful(least)


def test_a_draw_is_lucky_for_one_and_unlucky_for_the_others() -> None:
    for before, action, after in draws():
        luck = draw_luck(before, action, after, (), 2, "m/1")
        assert sum(luck.gained) == pytest.approx(0)
        assert luck == draw_luck(before, action, after, (), 2, "m/1")


@cache
def draws() -> list[tuple[State, Action, State]]:
    """Return the draws of a match, in which only the last years are played."""
    found = []
    state, _ = new_match(rules("pro+gifts", 3), Deal(bytes(32)))
    dice = random.Random(3)
    while state.seat >= 0:
        before, action = state.copy(), RandomPolicy().choose(state, dice)
        if is_draw(apply_one(state, action)) and state.year == 4:
            found.append((before, action, state.copy()))
    return found


def test_the_luck_of_the_deal_is_zero_on_average() -> None:
    total = Sums()
    for seed in range(6):
        state, _ = new_match(BASIC, Deal(random.Random(seed).randbytes(32)))
        total.add(deal_luck(state, 2, f"m{seed}").gained[0])
    mean, error, _ = total.estimate()
    assert abs(mean) < 3 * error


def test_expected_scores_are_shares_by_rank() -> None:
    assert expected_scores([3, 3], 0.0) == [0.5, 0.5]
    assert expected_scores([9, 2, 5], 0.0) == [1.0, 0.0, 0.5]
    assert expected_scores([9, 2, 5], 0.0, {0}) == [0.0, 0.5, 1.0]
    assert expected_scores([1, 0], 1.0)[0] == pytest.approx(0.731, abs=0.001)
    assert sum(expected_scores([40, 38, 31, 5], 3.0)) == pytest.approx(2)


def test_a_decision_with_a_history_is_priced_from_it() -> None:
    state, _ = new_match(BASIC, Deal(bytes(32)))
    history = History.from_view(view(state, state.seat))
    worlds = Worlds(view(state, state.seat), history)
    assert worlds.exact
    price = DecisionPricer(BASIC, TINY).price(worlds.sample, state.legal, state.legal[0], "m")
    assert 0 < price.expected.mean < 1
    assert price.playouts <= TINY.choosing + 2 * TINY.doubtful + TINY.candidates


def test_the_course_of_a_turn_falls_only_where_a_loss_is_certain() -> None:
    def sure(mean: float, number: int) -> Estimate:
        return Estimate(mean, 0.01, number)

    noise, blunder = Estimate(0.3, 0.2, 6), Estimate(0.3, 0.01, 40)
    turn = [Priced(10, 10, sure(0.8, 6), noise), Priced(10, 11, sure(0.6, 18), blunder)]
    course = turn_course([*turn, Priced(11, 14, sure(0.4, 6), Estimate(0.0, 0.0, 0))])
    # The blunder's playouts say what is expected before it, and what the chosen action brings.
    before, after = (6 * 0.8 + 18 * 0.6) / 24, (18 * 0.3 + 6 * 0.4) / 24
    assert [(place, round(one.mean, 6), one.worlds) for place, one in course] == [
        (10, round(before, 6), 24),
        (10, round(before, 6), 24),
        (11, round(after, 6), 24),
    ]
    assert course[0][1].error > 0.01  # the decisions differ


def test_the_course_of_a_turn_never_rises_and_stays_a_share_of_a_match() -> None:
    blunder, good = Estimate(0.6, 0.1, 40), Estimate(0.0, 0.0, 0)
    high, low = Estimate(0.95, 0.01, 40), Estimate(0.65, 0.01, 40)
    turn = [Priced(1, 2, low, blunder), Priced(2, 3, high, good), Priced(3, 4, low, blunder)]
    for length in range(1, 4):
        means = [one.mean for _, one in turn_course(turn[:length])]
        assert 1.0 >= means[0] >= means[-1] >= 0.0
        assert means == sorted(means, reverse=True)


def test_a_stroke_of_luck_is_certain() -> None:
    assert Luck((0.05, -0.05), (0.01, 0.01), 8).stroke == 0
    assert Luck((0.05, -0.01, -0.06), (0.01, 0.01, 0.01), 8).stroke == 2
    assert Luck((0.05, -0.05), (0.02, 0.02), 8).stroke is None
