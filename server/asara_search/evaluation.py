"""A hand-made evaluation of states: the prestige that a seat can expect, from simple estimates.

An `Estimator` looks at a state for one seat, then prices anything that this seat may do. It reads
public information and what the seat knows, but no other seat's hand, purse or sections. `evaluate`
looks at every seat in turn. The weights come from `weights.toml`, which `scripts/tune` writes.

Colours count from 0 in this module. Markets have their usual order: bases, trunks, windows,
turrets.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from asara_game.rules import Rules
from asara_game.state import MASK, ONE, State
from asara_game.vocabulary import Area, DecisionKind

__all__ = [
    "Estimator",
    "Weights",
    "evaluate",
    "shipped_values",
    "shipped_weights",
    "weights_of_network",
]

_SPACE: Final = DecisionKind.SPACE
_CIRCLE: Final = int(Area.BUILDING_CIRCLE)
_NOT_PRICED: Final = -1e9
_UNKNOWN: Final = [_NOT_PRICED] * 30
_MOST_MIDDLES: Final = 16
"""Number of middle sections from which on the worth of a height is not kept."""
_MOST_BUYERS: Final = 4
"""Number of buyers above which a build does not become more probable."""

NAMES: Final = (
    "buyer",
    "following",
    "circle_following",
    "spare_buyer",
    "laid_buyers",
    "asari",
    "idle_asari",
    "spending",
    "first_turn",
    "building_0",
    "building_1",
    "building_2",
    "building_3",
    "building_4",
    "waiting",
    "ahead_0",
    "ahead_1",
    "ahead_2",
    "ahead_3",
    "on_display",
    "in_pile",
    "fitting",
)
YEARS: Final = 4
"""Number of years that bonuses differ between."""
OPENING, TWO_BUYERS, FIRST_AREA = 0, YEARS, YEARS
"""Places in `Weights.bonuses`; the bonus of an area is at FIRST_AREA + YEARS * area."""
BONUSES: Final = tuple(
    f"{name}_{years_after}"
    for name in ("opening", "two_buyers", *(area.name.lower() for area in Area))
    for years_after in range(YEARS)
)
"""Names of the weights that are added to the price of a space. A missing one is 0."""


class Weights:
    """The numbers of `weights.toml`; raises ValueError for missing, unknown or infinite ones."""

    def __init__(self, values: Mapping[str, float]) -> None:
        missing = [name for name in NAMES if name not in values]
        unknown = [name for name in values if name not in NAMES and name not in BONUSES]
        if missing or unknown:
            raise ValueError(f"weights: missing {missing}, unknown {unknown}")
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"weights: {name}: a number is needed, not {value!r}")
            if not math.isfinite(value):
                raise ValueError(f"weights: {name}: a finite number is needed, not {value}")
        self.buyer = float(values["buyer"])
        self.following = float(values["following"])
        self.circle_following = float(values["circle_following"])
        self.spare_buyer = float(values["spare_buyer"])
        self.laid_buyers = float(values["laid_buyers"])
        self.asari = float(values["asari"])
        self.idle_asari = float(values["idle_asari"])
        self.spending = float(values["spending"])
        self.first_turn = float(values["first_turn"])
        self.building = [float(values[f"building_{n}"]) for n in range(5)]
        self.waiting = float(values["waiting"])
        self.ahead = [float(values[f"ahead_{n}"]) for n in range(4)]
        self.on_display = float(values["on_display"])
        self.in_pile = float(values["in_pile"])
        self.fitting = float(values["fitting"])
        self.bonuses = [float(values.get(name, 0.0)) for name in BONUSES]


def read_weights(path: Path) -> dict[str, float]:
    """Read a file of weights. Raise ValueError if it is damaged.

    The numbers of a list get the names `NAME_0`, `NAME_1` and so on.
    """
    try:
        with path.open("rb") as file:
            rows = tomllib.load(file)["weights"]
        values: dict[str, float] = {}
        for name, value in rows.items():
            if isinstance(value, list):
                values |= {f"{name}_{place}": each for place, each in enumerate(value)}
            else:
                values[name] = value
        Weights(values)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    return values


@cache
def shipped_weights() -> Weights:
    """Return the weights that come with the package."""
    return Weights(shipped_values())


def weights_of_network(estimates: Mapping[str, float]) -> Weights:
    """Return the weights that a network was trained with; those it lacks are the package's.

    A network gets no bonuses: it has learned to correct prices without them.
    """
    shipped = shipped_values()
    return Weights({name: estimates.get(name, shipped[name]) for name in NAMES})


def shipped_values() -> dict[str, float]:
    """Return the numbers of `weights.toml` by name."""
    return read_weights(Path(__file__).with_name("weights.toml"))


class _Towers:
    """Heights, gold and windows of a seat's towers, recounted only after the seat has built."""

    def __init__(self) -> None:
        self.towers: Sequence[tuple[int, ...]] = ()
        self.tallest = [0] * 5
        self.second = [0] * 5
        self.dark = [0] * 5
        """Windows that a lit window can cover without hiding gold, by colour."""
        self.gold = 0
        self.lit = 0

    def look(self, towers: Sequence[tuple[int, ...]]) -> None:
        if towers is self.towers:
            return
        self.towers = towers
        tallest = [0] * 5
        second = [0] * 5
        dark = [0] * 5
        gold = 0
        lit = 0
        for tower in towers:
            c = tower[0] - 1
            height = 2 + tower[3] + tower[4] + tower[5] + tower[6]
            if height > tallest[c]:
                second[c] = tallest[c]
                tallest[c] = height
            elif height > second[c]:
                second[c] = height
            dark[c] += tower[5] - tower[7]
            gold += tower[1] + tower[2] + tower[4] + tower[6] - tower[8]
            lit += tower[7] + tower[8]
        self.tallest = tallest
        self.second = second
        self.dark = dark
        self.gold = gold
        self.lit = lit


class Estimator:
    """Prices in prestige for one seat at a time. Call `look` first, and again after a change."""

    def __init__(self, rules: Rules, weights: Weights | None = None) -> None:
        if weights is None:
            weights = shipped_weights()
        self.weights = weights
        self.rules = rules
        edition = rules.edition
        self.prices = list(edition.prices)
        self.colour_first = [float(award.first) for award in edition.colour_awards]
        self.colour_second = [float(award.second) for award in edition.colour_awards]
        self.highest_first = float(edition.highest_award.first)
        self.highest_second = float(edition.highest_award.second)
        self.most_first = float(edition.most_award.first)
        self.most_second = float(edition.most_award.second)
        self.years = edition.years
        self.yearly_asari = edition.yearly_asari
        self.hand_size = rules.hand_size
        self.seats = rules.seats
        self.summaries = [_Towers() for _ in range(rules.seats)]
        # Of the seat looked at.
        self.seat = 0
        self.money = 0
        self.years_after = 0
        self.ahead = 0.0
        self.towers = 0
        self.tallest = [0] * 5
        self.own_best = 0
        self.own_best_colour = -1
        self.own_next = 0
        self.dark = [0] * 5
        self.rival_best = [0] * 5
        self.rival_second = [0] * 5
        self.all_best = 0
        self.all_second = 0
        self.most_best = 0
        self.most_next = 0
        self.founding = 0.0
        self.growth = [_NOT_PRICED] * (5 * _MOST_MIDDLES)
        """Value of the height that a colour gains, by colour and number of middle sections."""
        self.price_worths = [0.0] * 5
        """Value of the money that a section costs, by colour."""
        self.bases = [0] * 5
        self.turrets = [0] * 5
        self.middles = [0] * 5
        self.gold = [0] * 5
        self.lit = [0] * 5
        self.base_chance = [0.0] * 5
        self.turret_chance = [0.0] * 5
        self.size = 0
        self.turns = 0
        self.keep = [0.0] * 6
        self.held: list[list[float]] = [[] for _ in range(_MOST_BUYERS + 1)]
        self.gains: list[list[float]] = [[] for _ in range(_MOST_BUYERS + 1)]
        self.sure = [0.0] * 5
        self.evaluations = [0.0] * 5

    def look(self, state: State, seat: int) -> None:
        """Prepare to price actions for this seat in this state."""
        weights = self.weights
        self.seat = seat
        self.money = state.money[seat]
        years_after = self.years_after = self.years - state.year
        self.size = state.hand_sizes[seat]
        self.turns = self.size + self.hand_size * years_after
        if state.seat == seat and state.kind is _SPACE and self.size:
            self.turns -= 1  # the turn that is being priced
        self.ahead = weights.ahead[min(years_after, 3)]
        self._look_at_towers(state, seat)
        self._look_at_sections(state, seat)
        self.growth = [_NOT_PRICED] * (5 * _MOST_MIDDLES)
        for c in range(5):
            self.price_worths[c] = self.money_worth(-self.prices[c])
        for buyers in range(_MOST_BUYERS + 1):
            now = weights.building[buyers]
            later = (1.0 - now) * weights.waiting if years_after else 0.0
            self.sure[buyers] = now + later
            self.evaluations[buyers] = now * (years_after + 1) + later * years_after
            self.held[buyers].clear()
            self.gains[buyers].clear()

    def _look_at_towers(self, state: State, seat: int) -> None:
        rival_best = [0] * 5
        rival_second = [0] * 5
        all_best = 0
        all_second = 0
        most_best = 0
        most_next = 0
        for other in range(self.seats):
            summary = self.summaries[other]
            towers = state.towers[other]
            summary.look(towers)
            if other == seat:
                continue
            count = len(towers)
            if count > most_best:
                most_best, most_next = count, most_best
            elif count > most_next:
                most_next = count
            for c in range(5):
                high = summary.tallest[c]
                if not high:
                    continue
                low = summary.second[c]
                best = rival_best[c]
                if high > best:
                    rival_best[c] = high
                    rival_second[c] = low if low > best else best
                elif high > rival_second[c]:
                    rival_second[c] = high
                if high > all_best:
                    all_second = low if low > all_best else all_best
                    all_best = high
                elif high > all_second:
                    all_second = high
        self.rival_best = rival_best
        self.rival_second = rival_second
        self.all_best = all_best
        self.all_second = all_second
        self.most_best = most_best
        self.most_next = most_next
        own = self.summaries[seat]
        self.towers = len(state.towers[seat])
        self.tallest = own.tallest
        self.dark = own.dark
        best = 0
        after = 0
        colour = -1
        for c in range(5):
            high = own.tallest[c]
            if high > best:
                after = best
                best = high
                colour = c
            elif high > after:
                after = high
        self.own_best = best
        self.own_best_colour = colour
        self.own_next = after

    def _look_at_sections(self, state: State, seat: int) -> None:
        weights = self.weights
        unbuilt = state.unbuilt
        start = seat * 40
        planned = self.towers
        shown = state.display_counts
        for c in range(5):
            at = start + c * 2
            base_gold = unbuilt[at + 1]
            turret_gold = unbuilt[at + 31]
            middle_gold = unbuilt[at + 11] + unbuilt[at + 21]
            bases = unbuilt[at] + base_gold
            turrets = unbuilt[at + 30] + turret_gold
            self.bases[c] = bases
            self.turrets[c] = turrets
            self.middles[c] = unbuilt[at + 10] + unbuilt[at + 20] + middle_gold
            self.gold[c] = base_gold + turret_gold + middle_gold
            self.lit[c] = state.lit_held[seat * 5 + c]
            planned += bases if bases < turrets else turrets
            on_display = shown[c * 2] + shown[c * 2 + 1]
            self.base_chance[c] = weights.on_display if on_display else weights.in_pile
            on_display = shown[c * 2 + 30] + shown[c * 2 + 31]
            self.turret_chance[c] = weights.on_display if on_display else weights.in_pile
        first = self.most_first
        second = self.most_second
        self.founding = self.award_worth(
            first, second, planned + 1, self.most_best, self.most_next
        ) - self.award_worth(first, second, planned, self.most_best, self.most_next)

    # Towers.

    def award_worth(self, first: float, second: float, size: int, best: int, after: int) -> float:
        """Value of a lead in an award: the fewer years are left to catch up, the safer the lead."""
        if not size:
            return 0.0
        ahead = self.ahead
        lead = 0.5 + ahead * (size - best)
        lead = 0.0 if lead < 0.0 else (1.0 if lead > 1.0 else lead)
        place = 0.5 + ahead * (size - after)
        place = 0.0 if place < 0.0 else (1.0 if place > 1.0 else place)
        return first * lead + second * (place - lead)

    def height_worth(self, c: int, size: int) -> float:
        """Value of a height: towers compete within a colour, the tallest one with all others."""
        worth = self.award_worth(
            self.colour_first[c],
            self.colour_second[c],
            size,
            self.rival_best[c],
            self.rival_second[c],
        )
        other = self.own_next if c == self.own_best_colour else self.own_best
        tallest = size if size > other else other
        return worth + self.award_worth(
            self.highest_first, self.highest_second, tallest, self.all_best, self.all_second
        )

    def growth_worth(self, c: int, m: int, size: int) -> float:
        """Value of a colour's height after a build with `m` middle sections, less that before."""
        if m >= _MOST_MIDDLES:
            return self.height_worth(c, size) - self.height_worth(c, self.tallest[c])
        at = c * _MOST_MIDDLES + m
        found = self.growth[at]
        if found == _NOT_PRICED:
            found = self.height_worth(c, size) - self.height_worth(c, self.tallest[c])
            self.growth[at] = found
        return found

    def ready_sections(self, c: int, b: int, t: int, m: int, lit: int) -> int:
        """Return what a build could use: base-turret pairs, and sections that fit a tower."""
        pairs = b if b < t else t
        dark = self.dark[c]
        middles = m if pairs or self.tallest[c] else 0
        return 2 * pairs + middles + (lit if lit < dark else dark)

    def build_worth(
        self, c: int, b: int, t: int, m: int, g: int, lit: int, sure: float, evaluations: float
    ) -> float:
        """Value of building sections: prestige now, height at the end, the rest every year.

        Towers, gold and lit windows score every year. `sure` is the probability of building the
        sections, and `evaluations` is the expected number of yearly evaluations afterwards.
        """
        pairs = b if b < t else t
        before = self.tallest[c]
        dark = self.dark[c]
        if lit > dark:
            lit = dark
        middles = m if pairs or before else 0
        sections = 2 * pairs + middles + lit
        if not sections:
            return 0.0
        pieces = b + t + m
        gold = float(g * (sections - lit)) / pieces if pieces else 0.0
        after = (before if before > 2 else 2) + m
        once = sections + pairs * self.founding
        if after != before:
            once += self.growth_worth(c, m, after)
        return once * sure + (pairs + gold + lit) * evaluations

    def colour_worth(self, c: int, b: int, t: int, m: int, g: int, lit: int, buyers: int) -> float:
        """Value of a colour's unbuilt sections; an incomplete tower is worth part of a full one."""
        ready = self.build_worth(c, b, t, m, g, lit, self.sure[buyers], self.evaluations[buyers])
        ends = b if b > t else t
        if not ends and m and not self.tallest[c]:
            ends = 1
        bases = ends - b
        turrets = ends - t
        missing = bases + turrets
        if not missing:
            return ready
        outlook = buyers - missing
        if outlook < 0:
            outlook = 0
        complete = self.build_worth(
            c, ends, ends, m, g, lit, self.sure[outlook], self.evaluations[outlook]
        )
        complete += (
            self.price_worths[c] if missing == 1 else self.money_worth(-self.prices[c] * missing)
        )
        if complete <= ready:
            return ready
        chance = 1.0
        for _ in range(bases):
            chance *= self.base_chance[c]
        for _ in range(turrets):
            chance *= self.turret_chance[c]
        return ready + chance * (complete - ready)

    def held_worths(self, buyers: int) -> list[float]:
        """Return the value of the unbuilt sections by colour; `buyers` is 0 to MOST_BUYERS."""
        found = self.held[buyers]
        if not found:
            for c in range(5):
                b, t, m, lit = self.bases[c], self.turrets[c], self.middles[c], self.lit[c]
                if b or t or m or lit:
                    found.append(self.colour_worth(c, b, t, m, self.gold[c], lit, buyers))
                else:
                    found.append(0.0)
        return found

    def held_worth(self, buyers: int) -> float:
        """Value of all unbuilt sections and lit windows."""
        worths = self.held_worths(buyers)
        return worths[0] + worths[1] + worths[2] + worths[3] + worths[4]

    # Purchases.

    def money_worth(self, change: int) -> float:
        """Value of money: what it can buy in the coming turns, so less if there is plenty."""
        weights = self.weights
        wealth = self.money + change * 0.5 + self.yearly_asari * self.years_after
        each = weights.asari * (1.0 - wealth / (weights.spending * self.turns + 1.0))
        return change * (each if each > weights.idle_asari else weights.idle_asari)

    def section_worth(self, market: int, c: int, gold: int, buyers: int) -> float:
        """Value of a section: what it adds to the sections in hand, minus its price."""
        known = self.gains[buyers]
        if not known:
            known.extend(_UNKNOWN)
        kind = 2 if market == 3 else (1 if market else 0)
        at = c * 6 + kind * 2 + gold
        found = known[at]
        if found == _NOT_PRICED:
            found = self.colour_worth(
                c,
                self.bases[c] + (1 if kind == 0 else 0),
                self.turrets[c] + (1 if kind == 2 else 0),
                self.middles[c] + (1 if kind == 1 else 0),
                self.gold[c] + gold,
                self.lit[c],
                buyers,
            )
            found += self.price_worths[c] - self.held_worths(buyers)[c]
            known[at] = found
        return found

    def market_worth(self, state: State, market: int, buyers: int) -> float:
        """Value of a market: its best section that the seat can afford, or -99 if there is none."""
        types = state.types_on_display[market]
        best = -99.0
        for c in range(5):
            forms = types >> c * 2 & 3
            if forms and self.prices[c] <= self.money:
                worth = self.section_worth(market, c, forms >> 1, buyers)
                if worth > best:
                    best = worth
        return best

    def pile_worth(self, state: State, market: int, buyers: int) -> float:
        """Value of a pile, which probably holds the most wanted section."""
        if not state.piles[market]:
            return 0.0
        best = 0.0
        for c in range(5):
            if self.prices[c] <= self.money:
                worth = self.section_worth(market, c, 1, buyers)
                if worth > best:
                    best = worth
        return self.weights.fitting * best

    def lit_worth(self, c: int, buyers: int) -> float:
        """Value of a lit window, if it can cover a dark window."""
        lit = self.lit[c]
        if lit >= self.dark[c]:
            return 0.0
        more = self.colour_worth(
            c, self.bases[c], self.turrets[c], self.middles[c], self.gold[c], lit + 1, buyers
        )
        return more - self.held_worths(buyers)[c]

    def best_lit_worth(self, buyers: int) -> float:
        """Value of the most useful lit window."""
        best = 0.0
        for c in range(5):
            worth = self.lit_worth(c, buyers)
            if worth > best:
                best = worth
        return best

    def build_gain(self, buyers: int) -> float:
        """Gain from building everything that is ready, compared with keeping it in hand."""
        sure = self.sure[buyers]
        evaluations = self.evaluations[buyers]
        gain = 0.0
        for c in range(5):
            b, t, m, g = self.bases[c], self.turrets[c], self.middles[c], self.gold[c]
            lit = self.lit[c]
            if b or t or m or lit:
                now = self.build_worth(c, b, t, m, g, lit, 1.0, self.years_after + 1.0)
                gain += now - self.build_worth(c, b, t, m, g, lit, sure, evaluations)
        return gain

    def ready(self) -> int:
        """Number of sections that one build could use."""
        total = 0
        for c in range(5):
            total += self.ready_sections(
                c, self.bases[c], self.turrets[c], self.middles[c], self.lit[c]
            )
        return total

    # Buyers.

    def look_at_areas(self, state: State) -> None:
        """Price the buyers: most worth keeping is a colour that areas need, above all the circle.

        `keep` holds the worth of a buyer by colour, without `spare_buyer`.
        """
        weights = self.weights
        keep = self.keep
        for colour in range(6):
            keep[colour] = weights.buyer
        for colour in state.area_colours:
            keep[colour] += weights.following
        keep[state.area_colours[_CIRCLE]] += weights.circle_following

    def building_buyers(self, state: State, hand: int, size: int) -> int:
        """Return the buyers left to build with, at most 4.

        Without a buyer in the circle's colour, the build takes two buyers instead of one.
        """
        colour = state.area_colours[_CIRCLE]
        if colour and not hand & MASK[colour]:
            size -= 1
        if size < 0:
            return 0
        return size if size < _MOST_BUYERS else _MOST_BUYERS

    # The whole.

    def award_worths(self) -> list[float]:
        """Values of the awards that the standing towers can expect.

        They are for the most towers, the highest tower of all, and the highest one of each colour.
        """
        worths = [
            self.award_worth(
                self.colour_first[c],
                self.colour_second[c],
                self.tallest[c],
                self.rival_best[c],
                self.rival_second[c],
            )
            for c in range(5)
        ]
        most = self.award_worth(
            self.most_first, self.most_second, self.towers, self.most_best, self.most_next
        )
        highest = self.award_worth(
            self.highest_first, self.highest_second, self.own_best, self.all_best, self.all_second
        )
        return [most, highest, *worths]

    def standing_worth(self) -> float:
        """Value of the awards that the standing towers can expect."""
        total = 0.0
        for worth in self.award_worths():
            total += worth
        return total

    def value(self, state: State, seat: int) -> float:
        """Return the prestige that a seat can expect at the end of the match."""
        if state.seat < 0:
            return float(state.prestige[seat])
        self.look(state, seat)
        self.look_at_areas(state)
        weights = self.weights
        own = self.summaries[seat]
        size = state.hand_sizes[seat]
        buyers = self.building_buyers(state, state.hands[seat], size)
        total = float(state.prestige[seat])
        total += (self.towers + own.gold + own.lit) * (self.years_after + 1.0)
        if state.patronage_seat == seat:
            total += 1.0 + weights.first_turn * self.years_after
        total += self.standing_worth() + self.held_worth(buyers)
        hand = state.hands[seat]
        for colour in range(1, 6):
            count = (hand & MASK[colour]) // ONE[colour]
            if count:
                total += count * (self.keep[colour] + weights.spare_buyer * count)
        return total - self.money_worth(-self.money)


def evaluate(state: State, estimator: Estimator) -> list[float]:
    """Return each seat's expected prestige, by seat; after the end, the actual prestige."""
    return [estimator.value(state, seat) for seat in range(estimator.seats)]
