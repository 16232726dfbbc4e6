"""The environments pass their libraries' own tests, and refuse bad input."""

import copy
import pickle
import random
import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from asara.installing import install_command
from asara_env import aec, gym, vector
from asara_env.action_numbers import ACTION_COUNT, legal_numbers, mask
from asara_env.deals import Deals
from asara_env.episode import IllegalActionNumber
from asara_env.observation import observe
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import DecisionKind
from asara_server.match.deal_secrets import secret_of, tournament_secret
from asara_server.outcome import match_scores, rank_seats
from tests.game.play import CASES, WIDE_CASES
from tests.leak.worlds import referee


def state_of(env: Any) -> State:
    """The state of the match that an environment plays."""
    state: State = env._episode.state
    return state


# The libraries' own tests, called as they are. Those of PettingZoo import an environment in a way
# that PettingZoo warns of.
pytestmark = pytest.mark.filterwarnings("ignore:The old environment creation API")

_EXPECTED_WARNINGS = (
    "Observation is not a NumPy array",  # it is a dictionary, as in PettingZoo's own card games
    "Observation space for each agent probably should be",
)


def test_pettingzoo_api():
    from pettingzoo.test import api_test

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(aec.env("pro+gifts+genie", 3), num_cycles=300)
    ours = [str(w.message) for w in caught if "api_test" in w.filename]
    assert [text for text in ours if not text.startswith(_EXPECTED_WARNINGS)] == []


def test_pettingzoo_seed():
    from pettingzoo.test import seed_test

    seed_test(lambda: aec.env("pro+gifts", 3), num_cycles=100)


@pytest.mark.parametrize("seat", [1, None])
def test_gymnasium_checker(seat):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = gymnasium.make(
            "Asara-v0", rules="pro+gifts", seats=3, seat=seat, illegal="lose", render_mode="ansi"
        )
        check_env(made.unwrapped)


# The same match as the referee's.


@pytest.mark.parametrize(("rule_sets", "seats"), CASES[1::4])
def test_a_match_is_that_of_the_referee_with_the_same_answers(rule_sets, seats):
    from asara_codec.encode import action_message

    secret = random.Random(seats).randbytes(32)
    match = referee(rule_sets, seats, secret)
    env = aec.env(rule_sets, seats)
    env.reset(options={"secret": secret})
    dice = random.Random(5)
    decisions = [0] * seats
    for now, agent in enumerate(env.agent_iter(), 1):
        observation, _, over, _, info = env.last()
        if over:
            env.step(None)
            continue
        seat = match.state.seat
        assert agent == f"seat_{seat}"
        assert (observation["observation"] == observe(view(match.state, seat))).all()
        decisions[seat] += 1
        index = dice.randrange(len(match.state.legal))
        action = match.state.legal[index]
        number = legal_numbers(match.state)[index]
        assert info["action_mask"][number] == 1
        assert info["action_mask"].sum() == len(match.state.legal)
        match.reply(seat, decisions[seat], [action_message(action)], now)
        match.record_reply(referee_us=0)
        env.step(number)
    assert match.finished
    assert state_of(env).prestige == match.state.prestige


def test_the_deals_of_a_seed_are_those_of_a_tournament_with_this_seed():
    tournament = tournament_secret(f"{7:064x}")
    deals, row = Deals(7), Deals(7, "3.")
    assert [deals.next_secret() for _ in range(2)] == [
        secret_of(tournament, name) for name in ("1", "2")
    ]
    assert row.next_secret() == secret_of(tournament, "3.1")


# Rewards.


def finish(env, dice):
    rewards = {}
    for agent in env.agent_iter():
        _, reward, over, _, info = env.last()
        if over:
            rewards[agent] = reward
            env.step(None)
        else:
            assert reward == 0
            env.step(int(dice.choice(np.flatnonzero(info["action_mask"]))))
    return rewards


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_rewards_by_rank_are_scores_of_tournaments_from_minus_one_to_one(seats):
    env = aec.env("basic", seats)
    for seed in range(3):
        env.reset(seed=seed)
        rewards = finish(env, random.Random(seed))
        scores = match_scores(rank_seats(state_of(env).prestige))
        assert list(rewards.values()) == pytest.approx([2 * score - 1 for score in scores])


def test_rewards_by_prestige_are_the_lead_over_the_mean_of_the_others():
    env = aec.env("pro", 3, reward="prestige")
    env.reset(seed=1)
    rewards = finish(env, random.Random(1))
    a, b, c = state_of(env).prestige
    assert rewards["seat_0"] == pytest.approx(a - (b + c) / 2)
    assert sum(rewards.values()) == pytest.approx(0)


def test_the_vector_form_and_gymnasium_give_the_same_rewards():
    matches = vector.Matches("basic", 3, 2)
    step = matches.reset(seed=4)
    env = aec.env("basic", 3)
    env.reset(options={"secret": Deals(4, "1.").next_secret()})
    while not step.dones[1]:
        assert (step.observations[1] == env.last()[0]["observation"]).all()
        assert step.seats[1] == int(env.agent_selection[-1])
        numbers = step.masks.argmax(1)
        env.step(int(numbers[1]))
        step = matches.step(numbers)
    assert list(env.rewards.values()) == pytest.approx(list(step.rewards[1, :3]))
    assert step.prestige[1, :3].tolist() == state_of(env).prestige
    assert step.rewards[1, 3] == 0
    seat = gym.SeatEnv("basic", 3, seat=2, opponents=lambda o, mask, rng: int(mask.argmax()))
    _, info = seat.reset(options={"secret": Deals(4, "1.").next_secret()})
    over, reward = False, 0.0
    while not over:
        _, reward, over, _, info = seat.step(int(info["action_mask"].argmax()))
    assert reward == pytest.approx(step.rewards[1, 2])
    assert info["prestige"] == step.prestige[1, :3].tolist()


# The vector form.


def test_a_match_that_ends_is_replaced_at_once():
    matches = vector.Matches(["basic", "pro+gifts"], [2, 3, 4], 6)
    step = matches.reset(seed=1)
    dice = np.random.default_rng(1)
    ends = 0
    while ends < 4:
        step = matches.step([dice.choice(np.flatnonzero(row)) for row in step.masks])
        ends += int(step.dones.sum())
        assert step.masks.any(1).all()
        assert (step.rewards[~step.dones] == 0).all()
        assert (step.prestige[~step.dones] == 0).all()
        assert (step.prestige[step.dones].max(1) > 0).all()
    playing = step.observations[:, 3:6].argmax(1) + 2
    assert playing.tolist() == [2, 3, 4, 2, 3, 4]


@pytest.mark.parametrize(("rule_sets", "seats"), CASES[::4])
def test_the_rows_are_what_the_seats_may_know(rule_sets, seats):
    matches = vector.Matches(rule_sets, seats, 2)
    step = matches.reset(seed=2)
    dice = np.random.default_rng(2)
    ends = 0
    while not ends:
        for row in range(2):
            state = matches.state(row)
            seen = view(state, state.seat)
            assert (step.observations[row] == observe(seen)).all()
            assert (step.masks[row] == mask(seen)).all()
            assert step.seats[row] == seen.private.seat
        step = matches.step([dice.choice(np.flatnonzero(row)) for row in step.masks])
        ends += int(step.dones.sum())


def test_steps_without_observations_are_the_same_steps():
    seeing, blind = (vector.Matches("pro+gifts", 2, 2) for _ in range(2))
    a, b = seeing.reset(seed=3), blind.reset(seed=3)
    for number in range(300):
        observe_now = number % 3 == 0
        numbers, before = a.masks.argmax(1), b.observations.copy()
        a, b = seeing.step(numbers), blind.step(numbers, observe=observe_now)
        assert (a.masks == b.masks).all()
        assert (b.observations == (a.observations if observe_now else before)).all()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda numbers: [-1, *numbers[1:]], "row 0: action number -1: not one of 0 to 310"),
        (
            lambda numbers: [*numbers[:2], 310],
            r"row 2: action number 310 \('return white'\) is not",
        ),
        (lambda numbers: numbers[:2], "an array of 3 whole numbers is needed"),
        (lambda numbers: [0.5, 1.0, 2.0], "an array of 3 whole numbers is needed, not float64"),
    ],
)
def test_an_illegal_action_in_one_row_changes_no_row(change, problem):
    matches = vector.Matches("basic", 2, 3)
    step = matches.reset(seed=1)
    before = step.observations.copy()
    step.masks[:] = True  # a caller may write into its arrays; legality does not depend on them
    with pytest.raises((IllegalActionNumber, TypeError), match=problem):
        matches.step(change([0, 0, 0]))
    assert (step.observations == before).all()
    untouched = vector.Matches("basic", 2, 3)
    untouched.reset(seed=1)
    assert (matches.step([0, 0, 0]).observations == untouched.step([0, 0, 0]).observations).all()


# Bad input.


def test_an_illegal_action_number_changes_nothing():
    env = aec.env("basic", 2)
    env.reset(seed=1)
    before = env.last()[0]
    for number in (-1, ACTION_COUNT, 40, 310):
        with pytest.raises(IllegalActionNumber, match=f"action number {number}"):
            env.step(number)
    nothing: Any
    for nothing in (None, 0.5, "0", np.float32(0), np.array([0]), np.zeros(ACTION_COUNT)):
        with pytest.raises(TypeError, match="a whole number is needed") as caught:
            env.step(nothing)
        assert len(str(caught.value)) < 80
    after = env.last()[0]
    assert all((before[key] == after[key]).all() for key in before)
    env.step(int(after["action_mask"].argmax()))


def test_the_mask_of_a_seat_that_does_not_decide():
    env = aec.env("basic", 2)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="no mask of 'seat_1': 'seat_0' decides"):
        env.action_mask("seat_1")
    assert not env.observe("seat_1")["action_mask"].any()
    assert not env.infos["seat_1"]["action_mask"].any()
    assert (env.action_mask("seat_0") == env.last()[4]["action_mask"]).all()


@pytest.mark.parametrize(
    ("options", "kind", "problem"),
    [
        ({"secret": "0" * 32}, TypeError, "32 bytes, not of type str"),
        ({"secret": b""}, ValueError, "32 bytes, not 0"),
        ({"secret": bytes(31)}, ValueError, "32 bytes, not 31"),
        ([bytes(32)], TypeError, "a dictionary is needed"),
    ],
)
def test_options_without_a_proper_secret_are_refused_and_change_nothing(options, kind, problem):
    for env in (aec.env("basic", 2), gym.SeatEnv("basic", 2)):
        env.reset(seed=1)
        env.step(int(legal_numbers(state_of(env))[0]))
        before = state_of(env)
        with pytest.raises(kind, match=problem):
            env.reset(seed=2, options=options)
        assert state_of(env) is before


def test_an_opponent_that_answers_nonsense_is_named():
    env = gym.SeatEnv("basic", 3, opponents=["random", lambda o, m, r: 310])
    _, info = env.reset(seed=1)
    problem = "the opponent of seat 2: action number 310"
    with pytest.raises(IllegalActionNumber, match=problem):  # noqa: PT012 - some step of them
        while True:
            _, _, _, _, info = env.step(int(info["action_mask"].argmax()))
    with pytest.raises(RuntimeError, match="no match runs"):
        env.step(0)


def test_an_illegal_action_loses_if_asked_for():
    env = gym.SeatEnv("basic", 2, illegal="lose")
    env.reset(seed=1)
    _, reward, over, _, _ = env.step(310)
    assert (reward, over) == (-1, True)
    with pytest.raises(RuntimeError, match="the match is over"):
        env.step(0)


WRONG: Any = {
    "rules": ["pro", "gifts"],
    "seats": "2",
    "opponents": 3,
    "opponent": [["random"]],
    "actions": [[1], [1, 2]],
}


def begun(env: Any) -> Any:
    env.reset(seed=1)
    return env


def stepped_too_early():
    for call in (aec.env().last, aec.env().agent_iter, lambda: gym.SeatEnv().step(0)):
        with pytest.raises(RuntimeError, match="no match runs"):
            call()
    vector.Matches().step([0] * 64)


def world_within_a_turn():
    env = begun(aec.env())
    env.step(int(env.action_mask("seat_0").argmax()))
    env.world("seat_1", random.Random(1))


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: aec.env("advanced"), "unknown rule set 'advanced'"),
        (lambda: aec.env(WRONG["rules"]), r"rules .*: a text such as 'pro\+gifts' is needed"),
        (lambda: aec.env("basic", 5), "2, 3 or 4 seats, not 5"),
        (lambda: aec.env("basic", WRONG["seats"]), "2, 3 or 4 seats, not '2'"),
        (lambda: aec.env(reward="gold"), "reward 'gold': not one of rank, prestige"),
        (lambda: aec.env(render_mode="human"), "render_mode 'human'"),
        (lambda: aec.env().reset(seed=-1), "-1: not a whole number from 0"),
        (lambda: aec.env().reset(seed=2**256), "6: not a whole number from 0"),
        (lambda: aec.env().reset(seed=True), "True: not a whole number from 0"),
        (lambda: aec.env().step(0), "no match runs: call reset"),
        (lambda: gym.SeatEnv(seat=2), "seat 2: a match of 2 has the seats 0 to 1"),
        (lambda: gym.SeatEnv(illegal="maybe"), "illegal 'maybe'"),
        (lambda: gym.SeatEnv(seats=3, opponents=["random"]), "1 given for 2 other seats"),
        (lambda: gym.SeatEnv(opponents="greedy"), "opponents: 'greedy' is not a function"),
        (lambda: gym.SeatEnv(opponents=WRONG["opponents"]), "opponents: 3 is not"),
        (lambda: gym.SeatEnv(opponents=WRONG["opponent"]), r"\['random'\] is not"),
        (lambda: vector.Matches(count=0), "count 0: at least one match"),
        (lambda: vector.Matches([]), "name at least one of each"),
        (stepped_too_early, "no match runs"),
        (lambda: begun(vector.Matches(count=2)).step(WRONG["actions"]), "2 whole numbers"),
        (lambda: vector.Matches().state(0), "no match runs"),
        (lambda: begun(vector.Matches(count=2)).state(-1), "row -1: the rows are 0 to 1"),
        (lambda: begun(vector.Matches(count=2)).state(2), "row 2: the rows are 0 to 1"),
        (lambda: begun(aec.env()).observe("seat_2"), "no agent 'seat_2': the agents are seat_0, "),
        (lambda: begun(aec.env()).action_space(0), "no agent 0: the agents are"),
        (lambda: begun(aec.env()).world("seat_0", 1), "rng: a random.Random is needed"),
        (lambda: begun(gym.SeatEnv()).world(1), "a random.Random is needed, not "),
        (lambda: begun(vector.Matches()).world(0, 1), "a random.Random is needed"),
        (world_within_a_turn, "no world of seat 1: seat 0 is within its turn"),
    ],
)
def test_what_makes_no_sense_is_refused(call, problem):
    with pytest.raises((TypeError, ValueError, RuntimeError, IndexError), match=problem):
        call()


def test_a_step_after_the_end_is_refused():
    env = begun(aec.env("basic", 2))
    finish(env, random.Random(1))
    for call in (lambda: env.step(0), env.last):
        with pytest.raises(RuntimeError, match="the match is over and all agents have left it"):
            call()


_WITHOUT_LIBRARIES = """
import importlib, sys
for library, module in (
    ("numpy", "rewards"), ("pettingzoo", "aec"), ("gymnasium", "gym"), ("pyspiel", "openspiel")
):
    sys.modules[library] = None
    try:
        importlib.import_module(f"asara_env.{module}")
    except ImportError as error:
        print(error)
    if library == "numpy":
        del sys.modules["numpy"]
"""


def test_a_library_that_is_missing_is_named_with_its_extra():
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_LIBRARIES], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    for name, extra, line in zip(
        ("numpy", "pettingzoo", "gymnasium", "OpenSpiel (pyspiel)"),
        ("env", "env", "env", "openspiel"),
        lines,
        strict=True,
    ):
        told = f"{name} is not installed; install the extra '{extra}': {install_command(extra)}"
        assert line == told


# Copies.


def test_a_copy_of_an_environment_holds_no_match():
    env = aec.env("pro", 3, reward="prestige", render_mode="ansi")
    env.reset(seed=1)
    seat = gym.SeatEnv("pro", 3, seat=1)
    seat.reset(seed=1)
    for made in (env, seat):
        for other in (copy.deepcopy(made), copy.copy(made), pickle.loads(pickle.dumps(made))):
            assert other.rules.seats == 3
            with pytest.raises(RuntimeError, match="no match runs"):
                other.step(0)
            other.reset(seed=1)
    matches = vector.Matches("basic", 2, 2)
    matches.reset(seed=1)
    with pytest.raises(TypeError, match="matches cannot be copied"):
        copy.deepcopy(matches)


def test_a_world_looks_the_same_and_has_another_future():
    env = aec.env("pro+gifts", 2)
    env.reset(seed=3)
    agent = env.agent_selection
    worlds = [env.world(agent, random.Random(seed)) for seed in range(3)]
    exact = env.exact_copy()
    ends = []
    for other in (*worlds, exact, env):
        now = other.last()[0]
        assert all((now[key] == env.last()[0][key]).all() for key in now)
    for other in (*worlds, exact, env):
        finish(other, random.Random(1))
        ends.append(str(state_of(other).hands + state_of(other).prestige))
    assert ends[3] == ends[4]
    assert len(set(ends)) == 4


def test_a_world_of_one_seat_looks_the_same():
    seat = gym.SeatEnv("pro", 2, seat=1)
    seat.reset(seed=1)
    ends = []
    for world in (seat.world(random.Random(1)), seat.world(random.Random(1)), seat.exact_copy()):
        assert (world.action_masks() == seat.action_masks()).all()
        ends.append(end_of(world))
    assert ends[0] == ends[1] != ends[2] == end_of(seat)


def end_of(seat):
    """Final prestige if the seat always takes the legal action with the lowest number."""
    over = False
    info: dict[str, Any] = {}
    while not over:
        _, _, over, _, info = seat.step(int(seat.action_masks().argmax()))
    return info["prestige"]


# What is hidden stays hidden.


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_all_that_is_shown_is_the_same_in_every_world(rule_sets, seats):
    """Also for seats that wait while another begins a turn."""
    env = aec.env(rule_sets, seats, render_mode="ansi")
    env.reset(seed=seats)
    dice = random.Random(seats)
    compared = 0
    while not any(env.terminations.values()):
        if dice.random() < 0.05:
            asked = env.agent_selection
            resting = state_of(env).kind == DecisionKind.SPACE
            for agent in env.agents if resting else [asked]:
                world = env.world(agent, dice)
                for key, part in env.observe(agent).items():
                    assert (world.observe(agent)[key] == part).all()
                mine, theirs = env.infos[agent], world.infos[agent]
                assert mine.keys() == theirs.keys() == {"action_mask"}
                assert (mine["action_mask"] == theirs["action_mask"]).all()
                assert world.agent_selection == asked
                assert world.rewards == env.rewards
                assert world.terminations == env.terminations
                assert world.render() == env.render()
                compared += 1
        numbers = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
        env.step(int(dice.choice(numbers)))
    assert compared
    assert str(env.render()).startswith("the match is over")
