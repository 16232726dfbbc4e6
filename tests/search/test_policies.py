"""Playouts, policies and the evaluation on states."""

import random

import pytest

from asara_codec.decode import action_from_proto
from asara_codec.view_reader import view_from_proto
from asara_game.actions import ChooseSpace
from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply, new_match, outcome
from asara_game.knowledge.determinize import determinize
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets
from asara_game.state import State
from asara_game.vocabulary import Area, DecisionKind
from asara_search.evaluation import NAMES, Estimator, Weights, read_weights, shipped_values
from asara_search.playout import QuickShuffler, play_out
from asara_search.policies import GreedyPolicy, Policy, RandomPolicy
from bots.greedy.main import decide as greedy
from scripts.tuning.duel_command import RULES_OF_THUMB
from tests.bots.in_process import play_match
from tests.sizes import others_long

EDITION = load_edition()
RICHEST = Rules(EDITION, RULE_COMBINATIONS[-1], 4)


def start(rules: Rules = RICHEST, deal: int = 0) -> State:
    return new_match(rules, Deal(deal.to_bytes(32)))[0]


@pytest.mark.parametrize("rule_sets", others_long(RULE_COMBINATIONS, 5), ids=format_rule_sets)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_playouts_are_legal_and_end(rule_sets, seats):
    rules = Rules(EDITION, rule_sets, seats)
    policies: list[Policy] = [RandomPolicy(), GreedyPolicy(rules)]
    for policy in policies:
        state, rng = start(rules), random.Random(1)
        while state.legal:
            apply(state, policy.choose(state, rng))
        assert outcome(state) is not None


def test_play_out_counts_the_decisions_of_the_same_match():
    state, twin = start(), start()
    decisions = play_out(state, GreedyPolicy(RICHEST), random.Random(1))
    asked = 0
    policy = GreedyPolicy(RICHEST)
    while twin.legal:
        apply(twin, policy.choose(twin, random.Random(1)))
        asked += 1
    assert decisions == asked
    assert outcome(state) == outcome(twin)


@pytest.mark.long
def test_the_greedy_policy_answers_like_the_bot_greedy():
    rng = random.Random(3)
    same: list[bool] = []
    for rule_sets, seats in ((RULE_COMBINATIONS[0], 2), (RULE_COMBINATIONS[-1], 3)):
        rules = Rules(EDITION, rule_sets, seats)
        policy = GreedyPolicy(rules, RULES_OF_THUMB)

        def decide(decision, match, rules=rules, policy=policy):
            answer = greedy(decision, match)
            world = determinize(view_from_proto(rules, decision), rng)
            same.append(policy.choose(world, rng) is action_from_proto(answer))
            return answer

        play_match(rules, [decide] * seats, "agreement", bytes(32))
    assert sum(same) >= 0.93 * len(same)


def test_the_policy_and_the_evaluation_read_nothing_hidden():
    policy, estimator = GreedyPolicy(RICHEST), Estimator(RICHEST)
    state, rng, compared = start(), random.Random(2), 0
    while state.legal:
        if rng.random() < 0.1:
            seat = state.seat
            other = state.copy()
            for rival in range(4):
                if rival != seat:
                    other.money[rival] += 7
                    other.hands[rival] = 0
                    other.unbuilt[rival * 40 : rival * 40 + 40] = [1] * 40
                    other.lit_held[rival * 5 : rival * 5 + 5] = [1] * 5
            other.piles = [[9] * len(pile) for pile in state.piles]
            other.buyer_pile = [1] * len(state.buyer_pile)
            assert estimator.value(state, seat) == estimator.value(other, seat)
            searching = state.kind is DecisionKind.PILE_SECTION
            if not searching:
                assert policy.choose(state, rng) is policy.choose(other, rng)
            compared += 1
        apply(state, rng.choice(state.legal))
    assert compared > 10


def test_quick_shuffles_reach_every_order_alike():
    shuffler = QuickShuffler(random.Random(1))
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(6000):
        items = [1, 2, 3]
        shuffler.shuffle("", items)
        counts[tuple(items)] = counts.get(tuple(items), 0) + 1
    assert len(counts) == 6
    assert all(850 < count < 1150 for count in counts.values())


def test_a_bonus_is_added_to_the_prices_of_its_spaces_in_its_years():
    rules = Rules(EDITION, RULE_COMBINATIONS[0], 2)
    state = start(rules)
    areas = [each.space.area for each in state.legal if isinstance(each, ChooseSpace)]
    assert len(areas) == len(state.legal)
    plain = {name: shipped_values()[name] for name in NAMES}
    before = GreedyPolicy(rules, Weights(plain)).worths(state)
    for bonus, meant in (
        ("bank_3", [Area.BANK]),
        ("opening_3", set(Area) - {Area.COLOURED_BUILDING}),
        ("bank_2", []),
    ):
        after = GreedyPolicy(rules, Weights(plain | {bonus: 2.5})).worths(state)
        gained = [new - old for new, old in zip(after, before, strict=True)]
        assert gained == pytest.approx([2.5 * (area in meant) for area in areas])


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "weights = 3",
        "[weights]\nbuilding = [[1]]",
        "[weights]\nbuyer = 1",
        "[weights]\n" + "\n".join(f"{name} = nan" for name in NAMES),
        "[weights]\n" + "\n".join(f'{name} = "1"' for name in NAMES),
        "[weights]\n" + "\n".join(f"{name} = 1" for name in (*NAMES, "more")),
        "\0",
    ],
)
def test_damaged_weights_are_named(damage, tmp_path):
    file = tmp_path / "weights.toml"
    file.write_text(damage)
    with pytest.raises(ValueError, match=r"weights\.toml"):
        read_weights(file)
