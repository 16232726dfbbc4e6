"""Policies: how seats choose their actions in a playout."""

from __future__ import annotations

import random
from typing import Final

from asara_game.actions import (
    Action,
    ChooseBuyer,
    ExtendTower,
    FoundTower,
    KeepLitWindows,
    LayBuyers,
    LightWindow,
    PayOffer,
    SearchPile,
    TakeSection,
    Wish,
)
from asara_game.rules import DECLINE, Rules, SpaceInfo
from asara_game.state import MASK, ONE, State
from asara_game.turns import buildable_counts
from asara_game.vocabulary import Area, DecisionKind, GiftCard, GiftKind

from .evaluation import FIRST_AREA, OPENING, TWO_BUYERS, YEARS, Estimator, Weights

__all__ = ["GreedyPolicy", "Policy", "RandomPolicy"]

_SPACE, _BUYERS = DecisionKind.SPACE, DecisionKind.BUYERS
_BUILD, _BUILD_COUNT = DecisionKind.BUILD, DecisionKind.BUILD_COUNT
_GIFT_BUYER: Final = DecisionKind.GIFT_BUYER
_NOT_PRICED: Final = -1e9
_CIRCLE, _SPIES, _PATRONAGE = (
    int(Area.BUILDING_CIRCLE),
    int(Area.HOUSE_OF_SPIES),
    int(Area.CALIPHS_PATRONAGE),
)
_TENT, _LIT_HOUSE = int(Area.TENT), int(Area.HOUSE_OF_LIGHTED_WINDOWS)
_GENIE, _COLOURED = int(Area.HOUSE_OF_THE_BOTTLE_GENIE), int(Area.COLOURED_BUILDING)
_LAST_MARKET: Final = int(Area.TURRET_MARKET)


class Policy:
    """Base class of all policies: a way to choose actions."""

    def choose(self, state: State, rng: random.Random) -> Action:
        """Return one of the state's legal actions; there must be at least one."""
        raise NotImplementedError


class RandomPolicy(Policy):
    """Chooses among the legal actions with equal probability."""

    def choose(self, state: State, rng: random.Random) -> Action:
        """Return a random legal action."""
        legal = state.legal
        return legal[int(rng.random() * len(legal))]


class GreedyPolicy(Policy):
    """Takes the action with the highest price in the evaluation: the bot `greedy`, made fast.

    The policy looks one action ahead and uses no random numbers.
    """

    def __init__(self, rules: Rules, weights: Weights | None = None) -> None:
        self.rules = rules
        self.estimator = Estimator(rules, weights)
        self.weights = self.estimator.weights
        self.infos: dict[Action, SpaceInfo] = rules.spaces_by_action
        edition = rules.edition
        self.tent_buyers = edition.tent_buyers
        self.lit_price = edition.lit_offers[0].asari
        self.wish_worths = [_NOT_PRICED] * 5
        self.markets = [_NOT_PRICED] * 20
        self.piles = [_NOT_PRICED] * 20
        self.plots = [_NOT_PRICED] * 5
        self.after_follow = 0
        self.least = 0
        self.after_one = 0
        self.after_two = 0
        self.laid_one = 0.0
        self.laid_two = 0.0

    def choose(self, state: State, rng: random.Random) -> Action:
        """Return the legal action with the highest worth, the first one if several are equal."""
        legal = state.legal
        self.look(state)
        best = legal[0]
        top = -1e9
        for action in legal:
            worth = self.action_worth(state, action)
            if worth > top:
                top = worth
                best = action
        return best

    def worths(self, state: State) -> list[float]:
        """Return the worth of each legal action, in their order; only differences are meaningful.

        The worths depend only on what the deciding seat may know.
        """
        self.look(state)
        return [self.action_worth(state, action) for action in state.legal]

    def look(self, state: State) -> None:
        """Prepare to price the actions of the seat that decides."""
        kind = state.kind
        estimator = self.estimator
        if kind is _BUILD or kind is _BUILD_COUNT:
            return
        if kind is _SPACE or kind is _BUYERS or kind is _GIFT_BUYER:
            estimator.look_at_areas(state)
            if kind is _SPACE:
                self._look_at_hand(state)
            else:
                return
        estimator.look(state, state.seat)
        self.wish_worths = [_NOT_PRICED] * 5
        self.plots = [_NOT_PRICED] * 5
        self.markets = [_NOT_PRICED] * 20
        self.piles = [_NOT_PRICED] * 20

    def _look_at_hand(self, state: State) -> None:
        """Find the least wanted buyer, and the two least wanted buyers."""
        hand = state.hands[state.seat]
        size = state.hand_sizes[state.seat]
        least = self._least_wanted(hand)
        self.laid_one = self._keep_worth(hand, least) - self.weights.buyer
        hand -= ONE[least]
        self.after_one = hand
        if size > 1:
            least = self._least_wanted(hand)
            self.laid_two = self.laid_one + self._keep_worth(hand, least) - self.weights.buyer
            hand -= ONE[least]
        self.after_two = hand

    def _keep_worth(self, hand: int, colour: int) -> float:
        held = (hand & MASK[colour]) // ONE[colour]
        return self.estimator.keep[colour] + self.weights.spare_buyer * held

    def action_worth(self, state: State, action: Action) -> float:
        """Return the worth of a legal action, relative to the other legal actions."""
        kind = state.kind
        if kind is _SPACE:
            return self.space_worth(state, self.infos[action])
        if kind is _BUYERS:
            assert isinstance(action, LayBuyers)
            return self.lay_worth(state, action)
        if action is DECLINE:
            return 0.0
        return self._other_worth(state, action)

    def _other_worth(self, state: State, action: Action) -> float:
        estimator = self.estimator
        seat = state.seat
        if isinstance(action, FoundTower):
            return 99.0 + action.colour
        if isinstance(action, ExtendTower):
            tower = state.towers[seat][action.tower - 1]
            return float(2 + tower[3] + tower[4] + tower[5] + tower[6])
        if isinstance(action, LightWindow):
            return -1.0 if action.gold else 0.0
        hand = state.hands[seat]
        buyers = estimator.building_buyers(state, hand, state.hand_sizes[seat])
        if isinstance(action, TakeSection):
            section = self.rules.sections_by_action[action]
            number = section.number
            return estimator.section_worth(section.market, number >> 1, number & 1, buyers)
        if isinstance(action, SearchPile):
            return estimator.pile_worth(state, action.kind - 1, buyers)
        if isinstance(action, PayOffer):
            return self.offer_worth(action.asari, buyers)
        if isinstance(action, KeepLitWindows):
            total = 0.0
            for colour in action.colours:
                total += estimator.lit_worth(colour - 1, buyers)
            return total
        if isinstance(action, Wish):
            return self.move_worth(state, self.infos[action], buyers, True)
        if isinstance(action, ChooseBuyer):
            return self._keep_worth(hand, int(action.buyer))
        count = getattr(action, "count", 0)
        return float(count)

    # Spaces.

    def space_worth(self, state: State, info: SpaceInfo) -> float:
        """Worth of a space: its gifts, its move, and what the remaining buyers can still do."""
        estimator = self.estimator
        seat = state.seat
        hand = state.hands[seat]
        size = state.hand_sizes[seat]
        area = info.area
        colour = 0 if area == _COLOURED else state.area_colours[area]
        if not colour:
            hand = self.after_one
            size -= 1
            laid = self.laid_one
        elif hand & MASK[colour]:
            laid = self._keep_worth(hand, colour) - self.weights.buyer
            hand -= ONE[colour]
            size -= 1
        else:
            hand = self.after_two
            size -= 2
            laid = self.laid_two
        buyers = estimator.building_buyers(state, hand, size)
        worth = size * self.weights.buyer - laid * self.weights.laid_buyers
        worth += self.move_worth(state, info, buyers, False) + estimator.held_worth(buyers)
        bonuses = self.weights.bonuses
        year = min(estimator.years_after, YEARS - 1)
        worth += bonuses[FIRST_AREA + YEARS * area + year]
        if size + 1 < state.hand_sizes[seat]:
            worth += bonuses[TWO_BUYERS + year]
        elif not colour and area != _COLOURED:
            worth += bonuses[OPENING + year]
        if info.chest >= 0:
            for card in state.chests[info.chest]:
                worth += self.gift_worth(state, card, buyers)
        return worth

    def _least_wanted(self, hand: int) -> int:
        best = 0
        least = 1e9
        for colour in (1, 2, 3, 4, 5):
            if hand & MASK[colour]:
                worth = self._keep_worth(hand, colour)
                if worth < least:
                    least = worth
                    best = colour
        return best

    def move_worth(self, state: State, info: SpaceInfo, buyers: int, wished: bool) -> float:
        """Worth of a move: its effect, plus the money it brings or minus its cost."""
        estimator = self.estimator
        weights = self.weights
        change = info.income - info.cost
        worth = estimator.money_worth(change) if change else 0.0
        area = info.area
        if area <= _LAST_MARKET:
            gain = self.market_worth(state, area - 1, buyers)
            return worth + gain if gain > 0.0 else worth
        if area == _CIRCLE:
            return worth + self.plot_worth(state, info, buyers, wished)
        if area == _SPIES:
            best = 0.0
            for market in (0, 1, 2, 3):
                found = self.pile_worth(state, market, buyers)
                if found > best:
                    best = found
            return worth + best
        if area == _PATRONAGE:
            return worth + 1.0 + weights.first_turn * estimator.years_after
        if area == _TENT:
            return worth + self.tent_buyers * weights.buyer
        if area == _LIT_HOUSE:
            return worth + self.offer_worth(self.lit_price, buyers)
        if area == _GENIE:
            return worth + self.wish_worth(state, buyers)
        return worth

    def market_worth(self, state: State, market: int, buyers: int) -> float:
        """Worth of the best section on display, wanted or not; 0 if the seat can afford none."""
        key = buyers * 4 + market
        found = self.markets[key]
        if found == _NOT_PRICED:
            found = self.estimator.market_worth(state, market, buyers)
            if found == -99.0:
                found = 0.0
            self.markets[key] = found
        return found

    def pile_worth(self, state: State, market: int, buyers: int) -> float:
        key = buyers * 4 + market
        found = self.piles[key]
        if found == _NOT_PRICED:
            found = self.piles[key] = self.estimator.pile_worth(state, market, buyers)
        return found

    def plot_worth(self, state: State, info: SpaceInfo, buyers: int, wished: bool) -> float:
        """Worth of building on a plot: likely sections become certain, up to the plot's number."""
        gain = self.plots[buyers]
        if gain == _NOT_PRICED:
            gain = self.plots[buyers] = self.estimator.build_gain(buyers)
        ready = self.estimator.ready()
        if ready <= 1:
            return gain
        most = count = info.cost
        if not wished:
            numbers = buildable_counts(state, state.seat)
            for count in self.rules.plot_counts(info, state.free_spaces[_CIRCLE]):
                if numbers >> count & 1:
                    most = count
            count = most
        share = count / ready
        return gain * share if share < 1.0 else gain

    def offer_worth(self, price: int, buyers: int) -> float:
        """Worth of an offer: one lit window probably fits, a second one seldom does."""
        estimator = self.estimator
        best = estimator.best_lit_worth(buyers)
        return self.weights.fitting * best + estimator.money_worth(-price)

    def wish_worth(self, state: State, buyers: int) -> float:
        """Worth of a wish: the best move that the genie can grant."""
        found = self.wish_worths[buyers]
        if found == _NOT_PRICED:
            found = -1e9
            for info in self.rules.spaces:
                area = info.area
                if area in (_GENIE, _PATRONAGE):
                    continue
                if info.position and (area <= _LAST_MARKET or area == _LIT_HOUSE):
                    continue
                worth = self.move_worth(state, info, buyers, True)
                if worth > found:
                    found = worth
            self.wish_worths[buyers] = found
        return found

    def gift_worth(self, state: State, card: GiftCard, buyers: int) -> float:
        """Worth of a gift card: what it brings, even if that is an unwanted purchase."""
        kind = card[0]
        if kind == GiftKind.BUY_SECTION:
            return self.market_worth(state, card[3] - 1, buyers)
        if kind == GiftKind.BUY_LIT_WINDOW:
            return self.offer_worth(card[1], buyers)
        if kind == GiftKind.CHOOSE_BUYER:
            return self.weights.buyer
        return card[2] + self.estimator.money_worth(card[1])

    def lay_worth(self, state: State, lay: LayBuyers) -> float:
        """Worth of laying buyers: keep useful ones; open areas with a colour others can follow."""
        hand = state.hands[state.seat]
        worth = 0.0
        for buyer in lay.buyers:
            worth -= self._keep_worth(hand, int(buyer))
        if lay.face_down:
            return worth
        colour = int(lay.buyers[0])
        return worth + self.weights.following * ((hand & MASK[colour]) // ONE[colour])
