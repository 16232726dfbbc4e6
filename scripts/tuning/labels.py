"""`scripts/tune labels`: finds out how often the labels of `asara analyse` are true.

The search bot plays matches in which some decisions are replaced by random ones. A reference with
many more playouts says what these decisions cost, and what others cost that got a label.
"""

import argparse
import json
import math
import operator
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from asara_game import History, Worlds
from asara_game.actions import Action
from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply_one, new_match
from asara_game.rules import Rules, parse_rule_sets
from asara_game.state import State
from asara_game.view import view
from asara_search.analysis import BUDGETS, VERSION, Budget, DecisionPricer, Estimate
from asara_search.analysis.decision_price import LOSSES, label_of
from bots.search.main import make_search, parse
from scripts.tuning.arena import SearchPlayer, secret_of

OUT: Final = Path(__file__).parents[2] / "runs" / "labels.jsonl"
PLAYER: Final = "--iterations 12"
PLANTED: Final = 5
"""Number of replaced decisions in a match."""
AMONG: Final = 150
"""The replaced decisions are drawn from this number of decisions; a match has about 170."""
REFERENCE: Final = Budget(candidates=24, choosing=800, years=4, pricing=100, doubtful=5000, luck=0)
"""Fifty times the playouts that `normal` takes for most decisions."""
_CLEAR: Final = 3.0
"""Standard errors between a loss and the limits that matter, for the reference to stop."""
_COSTLY: Final = {"normal": 0.25, "deep": 0.10}
"""For each budget, the cost from which it has to find a replaced decision."""


class Decision(NamedTuple):
    """A decision with at least two legal actions, while it is open."""

    name: str
    planted: bool
    """True if the action was drawn at random, and is not what the bot chose."""
    sample: Callable[[random.Random], State]
    legal: Sequence[Action]
    chosen: Action


class Measured(NamedTuple):
    """A measured decision. `losses` has the budgets that priced it, and `reference`."""

    name: str
    planted: bool
    losses: Mapping[str, Estimate]

    def label(self, budget: str) -> str:
        """The label that a budget gives; "" for none, or if it did not price the decision."""
        return label_of(self.losses[budget]) if budget in self.losses else ""


class Reference(DecisionPricer):
    """Prices decisions with many playouts, until it is clear on which side of limits a loss is."""

    limits: Collection[float] = ()

    def _is_doubtful(self, loss: Estimate) -> bool:
        unclear = any(abs(loss.mean - one) < _CLEAR * loss.error for one in self.limits)
        return unclear and loss.worlds < REFERENCE.doubtful


def decisions(rules: Rules, seed: int, number: int) -> Iterator[Decision]:
    """Play a match, and yield its decisions; each is open until the next one is taken."""
    dice = random.Random(f"labels/{seed}/{number}")
    planted = set(dice.sample(range(AMONG), PLANTED))
    budget, settings = parse(PLAYER.split())
    players = [
        SearchPlayer(make_search(rules, settings), budget.iterations, seed=dice.getrandbits(32))
        for _ in range(rules.seats)
    ]
    state, _ = new_match(rules, Deal(secret_of(f"labels/{seed}", number)))
    histories = [History.from_view(view(state, seat)) for seat in range(rules.seats)]
    place = 0
    while state.legal:
        action = state.legal[0]
        if len(state.legal) > 1:
            action = players[state.seat].choose(state)
            if place in planted:
                action = dice.choice([other for other in state.legal if other != action])
            worlds = Worlds(view(state, state.seat), histories[state.seat])
            name = f"labels/{VERSION}/{seed}/{number}/{place}"
            yield Decision(name, place in planted, worlds.sample, state.legal, action)
            place += 1
        events = apply_one(state, action)
        for history in histories:
            history.add(events)


class Meter:
    """Prices decisions with as many playouts as each is worth."""

    def __init__(self, rules: Rules) -> None:
        self._budgets = {name: DecisionPricer(rules, budget) for name, budget in BUDGETS.items()}
        self._reference = Reference(rules, REFERENCE)

    def measure(self, decision: Decision, known: Mapping[str, Estimate], *, deep: bool) -> Measured:
        """Price a decision with `quick`, and if it may be a mistake, with more.

        `normal` prices planted decisions and those in which `quick` finds a loss. The reference
        prices planted decisions and those with a label. `deep` prices decisions that got a label
        from `normal`, or were planted and cost enough. Losses that are known are not measured.
        """
        losses = dict(known)
        found = Measured(decision.name, decision.planted, losses)

        def price(pricer: DecisionPricer, name: str) -> Estimate:
            if name not in losses:
                *_, sample, legal, chosen = decision
                loss = pricer.price(sample, legal, chosen, f"{decision.name}/{name}").loss
                losses[name] = Estimate(round(loss.mean, 4), round(loss.error, 4), loss.worlds)
            return losses[name]

        quick = price(self._budgets["quick"], "quick")
        if not decision.planted and quick.mean <= LOSSES["inaccuracy"]:
            return found
        price(self._budgets["normal"], "normal")
        labels = {found.label("quick"), found.label("normal")} - {""}
        if not decision.planted and not labels:
            return found
        self._reference.limits = {LOSSES[label] for label in labels}
        if decision.planted:
            self._reference.limits |= {LOSSES["blunder"], *_COSTLY.values()}
        cost = price(self._reference, "reference").mean
        costly = decision.planted and cost >= _COSTLY["deep"]
        if deep and (costly or found.label("normal")):
            price(self._budgets["deep"], "deep")
        return found


def report(found: Sequence[Measured]) -> Iterator[str]:
    """Yield the shares of planted decisions that are marked, and of labels that are false."""
    for budget, least in _COSTLY.items():
        costly = [one for one in found if one.planted and budget in one.losses]
        costly = [one for one in costly if one.losses["reference"].mean >= least]
        share = _share(sum(bool(one.label(budget)) for one in costly), len(costly))
        yield f"{budget} marks {share} of the planted decisions that cost {least:.2f} or more"
    for budget in BUDGETS:
        for planted in (True, False):
            marked = [one for one in found if one.label(budget) and one.planted is planted]
            limits = [LOSSES[one.label(budget)] for one in marked]
            costs = [one.losses["reference"].mean for one in marked]
            share = _share(sum(map(operator.lt, costs, limits)), len(marked))
            where = "planted" if planted else "other"
            yield f"{budget}: {share} of the labels of {where} decisions are false"


def _share(part: int, whole: int) -> str:
    """Return a share with its 95 % interval (Wilson)."""
    if not whole:
        return "0 of 0"
    share, spread = part / whole, 1.96**2 / whole
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    return f"{part} of {whole} ({share:.1%}; {middle - half:.1%} to {middle + half:.1%})"


def read(out: Path) -> Iterator[Measured]:
    """Yield the decisions in a file; the last line about one counts. Skip an incomplete line."""
    for line in out.read_text("utf-8").splitlines() if out.exists() else ():
        try:
            name, planted, losses = json.loads(line)
        except ValueError:
            continue
        yield Measured(name, planted, {by: Estimate(*loss) for by, loss in losses.items()})


def measured(given: argparse.Namespace, rules: Rules) -> Iterable[Measured]:
    """Yield the measured decisions. Measure what the file lacks, and add it to the file."""
    known = {one.name: one for one in read(given.out)}
    meter = Meter(rules)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with given.out.open("a", encoding="utf-8") as file:
        for number in range(given.matches):
            for decision in decisions(rules, given.seed, number):
                if not decision.planted and number >= given.whole:
                    continue
                before = known[decision.name].losses if decision.name in known else {}
                found = meter.measure(decision, before, deep=number < given.deep)
                if found.losses != before:
                    print(json.dumps(found, separators=(",", ":")), file=file, flush=True)
                yield found


def check_labels(arguments: Sequence[str]) -> int:
    """Measure the decisions that the file does not have yet, and print the shares."""
    parser = argparse.ArgumentParser(prog="scripts/tune labels")
    parser.add_argument("--rules", default="basic", help="rule sets [default: basic]")
    parser.add_argument("--matches", type=int, default=40, help="[default: 40]")
    parser.add_argument(
        "--whole", type=int, default=10, help="matches priced as a whole [default: 10]"
    )
    parser.add_argument(
        "--deep", type=int, default=10, help="matches in which deep prices, too [default: 10]"
    )
    parser.add_argument("--seed", type=int, default=1, help="[default: 1]")
    parser.add_argument("--out", type=Path, default=OUT, help=f"JSON lines [default: {OUT}]")
    given = parser.parse_args(arguments)
    try:
        rules = Rules(load_edition(), parse_rule_sets(given.rules), 2)
    except ValueError as error:
        parser.error(f"--rules: {error}")
    if given.matches < 1 or min(given.whole, given.deep) < 0:
        parser.error("--matches must be above 0, --whole and --deep 0 or more")
    print(*report(list(measured(given, rules))), sep="\n")
    return 0
