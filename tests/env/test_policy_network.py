"""The network that plays: its file, its advice, and nothing that the seat may not know."""

import io
import json
import random
import zipfile

import numpy as np
import pytest

from asara_env import policy_network
from asara_env.action_numbers import ACTION_COUNT, legal_numbers
from asara_env.observation import observe
from asara_env.policy_network import (
    INPUT_SIZE,
    MOST_SEATS,
    PRESTIGE_UNIT,
    VALUE_COUNT,
    DamagedWeights,
    Network,
    evaluate,
    load_network,
    prior,
    save_network,
)
from asara_game.knowledge.determinize import determinize
from asara_game.view import view
from tests.game.play import CASES, playout, visitor
from tests.game.table import rules as table_rules

ESTIMATES = {"buyer": 1.4}


def random_arrays(first=6, second=5, seed=0):
    rng = np.random.default_rng(seed)
    shapes = {
        "w1": (INPUT_SIZE, first),
        "b1": (first,),
        "w2": (first, second),
        "b2": (second,),
        "policy_w": (second, ACTION_COUNT),
        "policy_b": (ACTION_COUNT,),
        "value_w": (second, VALUE_COUNT),
        "value_b": (VALUE_COUNT,),
    }
    return {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def network():
    return Network(random_arrays(), ESTIMATES)


def moments(rule_sets, seats, every=17):
    for number, moment in enumerate(playout(table_rules(rule_sets, seats), 3, visitor)):
        if moment.state.seat >= 0 and number % every == 0:
            yield moment.state


def expected(arrays, seen, worths):
    """Probabilities of the legal actions and the values, computed without any cleverness."""
    numbers = legal_numbers(seen)
    inputs = np.zeros(INPUT_SIZE)
    inputs[: INPUT_SIZE - ACTION_COUNT] = observe(seen)
    inputs[[INPUT_SIZE - ACTION_COUNT + number for number in numbers]] = 1
    first = np.maximum(inputs @ arrays["w1"] + arrays["b1"], 0)
    second = np.maximum(first @ arrays["w2"] + arrays["b2"], 0)
    logits = (second @ arrays["policy_w"] + arrays["policy_b"])[numbers]
    shares = np.exp(logits + np.array(prior(worths)))
    return shares / shares.sum(), second @ arrays["value_w"] + arrays["value_b"]


@pytest.mark.parametrize(("rule_sets", "seats"), CASES[::4])
def test_advice_is_the_networks_output_for_the_seats_of_the_match(network, rule_sets, seats):
    arrays = random_arrays()
    for state in moments(rule_sets, seats):
        seen = view(state, state.seat)
        worths = [number * 0.3 for number in range(len(seen.legal))]
        advice = network.advise(seen, worths)
        probabilities, values = expected(arrays, seen, worths)
        assert advice.actions == seen.legal
        assert advice.probabilities == pytest.approx(probabilities, abs=1e-4)
        assert advice.best == seen.legal[int(np.argmax(probabilities))]
        for place in range(seats):
            seat = (state.seat + place) % seats
            assert advice.scores[seat] == pytest.approx(values[place], rel=1e-3, abs=1e-3)
            prestige = values[MOST_SEATS + place] * PRESTIGE_UNIT
            assert advice.prestige[seat] == pytest.approx(prestige, rel=1e-3, abs=1e-2)
        assert len(advice.scores) == len(advice.prestige) == seats


def test_a_network_that_says_nothing_takes_what_is_worth_most():
    arrays = random_arrays()
    arrays["policy_w"][:] = 0
    arrays["policy_b"][:] = 0
    silent = Network(arrays, ESTIMATES)
    state = next(moments("basic", 2))
    seen = view(state, state.seat)
    worths = [1.0] * len(seen.legal)
    worths[2] = 1.5
    assert silent.advise(seen, worths).best == seen.legal[2]
    worths[2] = 1000.0  # far from the others, which stay possible
    assert silent.advise(seen, worths).probabilities.min() > 0


def test_a_seat_that_does_not_decide_gets_no_advice(network):
    state = next(moments("basic", 2))
    seat = 1 - state.seat
    with pytest.raises(ValueError, match=f"seat {seat} does not decide"):
        network.advise(view(state, seat), ())


@pytest.mark.parametrize(("rule_sets", "seats"), CASES[::4])
def test_the_evaluation_sees_nothing_that_the_seat_may_not_know(network, rule_sets, seats):
    dice = random.Random(5)
    for state in moments(rule_sets, seats, 29):
        other = determinize(view(state, state.seat), dice)
        assert evaluate(state, network) == evaluate(other, network)
        assert len(evaluate(state, network)) == seats


def test_after_the_end_the_evaluation_is_the_result(network):
    *_, last = playout(table_rules("basic", 3), 1)
    assert evaluate(last.state, network) == list(last.state.prestige)


# Files


def test_a_file_keeps_the_weights_as_float16(tmp_path):
    path = tmp_path / "weights.npz"
    arrays = random_arrays()
    save_network(path, arrays, ESTIMATES, "a test")
    network = load_network(path)
    assert network.estimates == ESTIMATES
    for name, array in arrays.items():
        assert network.arrays[name].dtype == np.float32
        assert np.array_equal(network.arrays[name], array.astype(np.float16))
    assert [file.name for file in tmp_path.iterdir()] == ["weights.npz"]


def changed(path, **arrays):
    """Write a file of weights with some arrays replaced; None leaves one out."""
    save_network(path, random_arrays(), ESTIMATES)
    with np.load(path) as file:
        found = {name: file[name] for name in file.files} | arrays
    np.savez(path, **{name: array for name, array in found.items() if array is not None})


def about(**facts):
    found = {"format": 1, "layout": policy_network.layout_hash(), "estimates": {}} | facts
    return np.array(json.dumps(found))


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        pytest.param({"w2": None}, "w2", id="an array is missing"),
        pytest.param({"about": np.array("[]")}, "no table", id="facts of another kind"),
        pytest.param({"about": about(format=2)}, "format 2; this version reads 1", id="format"),
        pytest.param({"about": about(layout="x")}, "train them anew", id="another layout"),
        pytest.param({"about": about(estimates=3)}, "estimates", id="no estimates"),
        pytest.param({"b1": np.zeros(7, np.float16)}, "w1: shape", id="another size"),
        pytest.param({"b2": np.full(5, np.nan)}, "finite", id="not a number"),
        pytest.param({"b2": np.array([{}] * 5)}, "damaged", id="pickled objects"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path, arrays, words):
    path = tmp_path / "weights.npz"
    changed(path, **arrays)
    with pytest.raises(DamagedWeights) as refusal:
        load_network(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert words in str(refusal.value)


@pytest.mark.parametrize("kept", [0, 1, 100, 0.5, 0.99, -1])
def test_a_file_that_is_cut_off_is_refused(tmp_path, kept):
    path = tmp_path / "weights.npz"
    save_network(path, random_arrays(), ESTIMATES)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept) if isinstance(kept, float) else kept])
    with pytest.raises(DamagedWeights, match="not a file of weights"):
        load_network(path)


def test_bytes_that_changed_are_noticed(tmp_path):
    path = tmp_path / "weights.npz"
    save_network(path, random_arrays(), ESTIMATES)
    data = bytearray(path.read_bytes())
    dice = random.Random(2)
    for _ in range(20):
        wrong = bytearray(data)
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            info = file.getinfo("w1.npy")
        at = info.header_offset + 200 + dice.randrange(info.compress_size - 200)
        wrong[at] ^= 1 << dice.randrange(8)
        path.write_bytes(wrong)
        with pytest.raises(DamagedWeights):
            load_network(path)
