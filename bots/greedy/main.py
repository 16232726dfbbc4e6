"""Plays by rules of thumb: estimates each legal action's worth in prestige and takes the best.

`Position` holds the data of one decision; nothing is kept from earlier decisions. Each function
after it is one rule of thumb, explained in its docstring. `action_worth`, at the end, picks the
rule that applies. A worth is the prestige expected by the end of the match. `buyers` is always the
number of buyers left to build with this year, after the turn being evaluated.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import asara
from asara import Area, GiftKind, SectionKind

# Worths, in prestige
BUYER = 1.4  # one more turn this year
FOLLOWING = 0.5  # a buyer whose colour an area requires: alone he does the work of two
ASARI = 0.7  # the first one; each further one is worth less
IDLE_ASARI = 0.1  # a buyer that can no longer buy anything
FIRST_TURN = 0.5  # going first next year

# Hopes
BUILDING = (0.0, 0.5, 0.7, 0.85, 0.95)  # to build this year, by buyers left for it
WAITING = 0.6  # part of its worth that a section keeps when it waits for the next year
STAYING_AHEAD = (0.25, 0.15, 0.12, 0.1)  # per level of a lead, by years after this one
ON_DISPLAY = 0.45  # to get a base or turret later that is on display now
IN_PILE = 0.1  # to get a base or turret later that is not on display now
FITTING = 0.7  # to find a wanted tile among unseen ones
SPENDING = 5.5  # Asari that one turn can use

BASE, TURRET = SectionKind.SECTION_KIND_BASE, SectionKind.SECTION_KIND_TURRET
CIRCLE = Area.AREA_BUILDING_CIRCLE
GENIE_CANNOT = (Area.AREA_HOUSE_OF_THE_BOTTLE_GENIE, Area.AREA_CALIPHS_PATRONAGE)


class Held(NamedTuple):
    """Unbuilt sections of one colour; `middles` are trunks and windows."""

    bases: int = 0
    turrets: int = 0
    middles: int = 0
    gold: int = 0
    lit_windows: int = 0

    def plus(self, section: asara.Section) -> "Held":
        base, turret = section.kind == BASE, section.kind == TURRET
        bases, turrets, middles, gold, lit = self
        middles += not base and not turret
        return Held(bases + base, turrets + turret, middles, gold + section.gold, lit)


class Position:
    """The data of one decision, in the form that the rules of thumb need."""

    def __init__(self, decision: asara.Decision, match: asara.Match) -> None:
        public, private = decision.view.public_view, decision.view.private_view
        self.edition = match.edition
        self.years_after = self.edition.years - public.year
        self.colours = {info.colour: info for info in self.edition.colours}
        self.spaces = {(info.space.area, info.space.number): info for info in self.edition.spaces}
        self.markets = {market.kind: market for market in public.markets}
        self.gifts = {(c.space.area, c.space.number): c.cards for c in public.chests}
        self.area_colours = {area.area: area.colour for area in public.areas if area.colour}

        self.asari = private.asari
        self.hand = Counter(private.hand)
        lit = Counter(private.lit_windows)
        self.held = {colour: Held(lit_windows=lit[colour]) for colour in self.colours}
        for section in private.sections:
            self.held[section.colour] = self.held[section.colour].plus(section)

        self.towers = public.seats[match.seat].towers
        self.tallest = dict.fromkeys(self.colours, 0)
        self.dark_windows = dict.fromkeys(self.colours, 0)
        for tower in self.towers:
            self.tallest[tower.colour] = max(self.tallest[tower.colour], height(tower))
            self.dark_windows[tower.colour] += tower.plain_windows - tower.lit_plain_windows
        self.ready = sum(ready_sections(self, colour, self.held[colour]) for colour in self.held)
        rivals = [seat.towers for seat in public.seats if seat.seat != match.seat]
        self.rival_numbers = [len(towers) for towers in rivals]
        self.rival_towers = [(t.colour, height(t)) for towers in rivals for t in towers]


def height(tower: asara.Tower) -> int:
    return 2 + tower.plain_trunks + tower.gold_trunks + tower.plain_windows + tower.gold_windows


# Towers


def award_worth(position: Position, award: asara.Award, size: int, rivals: Sequence[int]) -> float:
    """A lead promises an award; the fewer years are left to catch up, the safer the lead."""
    if not size:
        return 0.0
    per_level = STAYING_AHEAD[min(position.years_after, len(STAYING_AHEAD) - 1)]
    best, second_best = sorted((*rivals, 0, 0), reverse=True)[:2]
    first = min(1.0, max(0.0, 0.5 + per_level * (size - best)))
    first_or_second = min(1.0, max(0.0, 0.5 + per_level * (size - second_best)))
    return award.first * first + award.second * (first_or_second - first)


@lru_cache(maxsize=1000)
def height_worth(position: Position, colour: asara.Colour, size: int) -> float:
    """A tower competes with other towers of its colour, and the tallest one with all others."""
    award, rivals = position.colours[colour].highest_tower, position.rival_towers
    worth = award_worth(position, award, size, [tall for c, tall in rivals if c == colour])
    tallest = max(size, *(tall for c, tall in position.tallest.items() if c != colour))
    award = position.edition.highest_tower
    return worth + award_worth(position, award, tallest, [tall for _, tall in rivals])


@lru_cache(maxsize=1)
def founding_worth(position: Position) -> float:
    """A tower of any colour helps to win the award for the most towers."""
    planned = len(position.towers) + sum(min(held[:2]) for held in position.held.values())
    award, rivals = position.edition.most_towers, position.rival_numbers
    more = award_worth(position, award, planned + 1, rivals)
    return more - award_worth(position, award, planned, rivals)


def ready_sections(position: Position, colour: asara.Colour, held: Held) -> int:
    """A build uses pairs of base and turret, and the sections that fit a tower."""
    pairs = min(held.bases, held.turrets)
    middles = held.middles if pairs or position.tallest[colour] else 0
    return 2 * pairs + middles + min(held.lit_windows, position.dark_windows[colour])


def build_worth(
    position: Position, colour: asara.Colour, held: Held, sure: float, evaluations: float
) -> float:
    """Sections score when built, height at the end; towers, gold and lit windows every year.

    `sure` is the probability of building the sections, and `evaluations` is the expected number of
    yearly evaluations afterwards.
    """
    sections = ready_sections(position, colour, held)
    if not sections:
        return 0.0
    pairs, before = min(held.bases, held.turrets), position.tallest[colour]
    lit = min(held.lit_windows, position.dark_windows[colour])
    gold = held.gold * (sections - lit) / max(1, held.bases + held.turrets + held.middles)
    after = max(before, 2) + held.middles
    once = height_worth(position, colour, after) - height_worth(position, colour, before)
    once += sections + pairs * founding_worth(position)
    return once * sure + (pairs + gold + lit) * evaluations


def outlook(position: Position, buyers: int) -> tuple[float, float]:
    """Sections that cannot be built are worth nothing, so keep buyers for the circle.

    Return the probability of building, and the expected number of yearly evaluations afterwards.
    """
    now = BUILDING[max(0, min(buyers, len(BUILDING) - 1))]
    later = (1.0 - now) * WAITING if position.years_after else 0.0
    return now + later, now * (position.years_after + 1) + later * position.years_after


@lru_cache(maxsize=1000)
def colour_worth(position: Position, colour: asara.Colour, held: Held, buyers: int) -> float:
    """An incomplete tower is worth part of a complete one."""
    ready = build_worth(position, colour, held, *outlook(position, buyers))
    needed = 1 if held.middles and not position.tallest[colour] else 0
    ends = max(held.bases, held.turrets, needed)
    bases, turrets = ends - held.bases, ends - held.turrets
    if not bases and not turrets:
        return ready
    whole, buyers = held._replace(bases=ends, turrets=ends), buyers - bases - turrets
    complete = build_worth(position, colour, whole, *outlook(position, buyers))
    complete += money_worth(position, -position.colours[colour].price * (bases + turrets), buyers)
    chance = chance_of(position, BASE, colour) ** bases
    chance *= chance_of(position, TURRET, colour) ** turrets
    return ready + chance * max(0.0, complete - ready)


def chance_of(position: Position, kind: asara.SectionKind, colour: asara.Colour) -> float:
    """A section on display is easier to get than a section in a pile or with a rival."""
    shown = any(section.colour == colour for section in position.markets[kind].display)
    return ON_DISPLAY if shown else IN_PILE


# Purchases


def money_worth(position: Position, change: int, buyers: int) -> float:
    """Money is worth what it can buy in the coming turns, so less if there is plenty."""
    turns = max(0, buyers) + position.edition.hand_size * position.years_after
    income = position.edition.yearly_asari * position.years_after
    plenty = (position.asari + change / 2 + income) / (SPENDING * turns + 1)
    return change * max(IDLE_ASARI, ASARI * (1 - plenty))


def section_worth(position: Position, section: asara.Section, buyers: int) -> float:
    """A section is worth what it adds to the sections in hand, minus its price."""
    colour, held = section.colour, position.held[section.colour]
    gain = colour_worth(position, colour, held.plus(section), buyers)
    gain -= colour_worth(position, colour, held, buyers)
    return gain + money_worth(position, -position.colours[colour].price, buyers)


def best_worth(position: Position, sections: Iterable[asara.Section], buyers: int) -> float:
    """If several sections are offered, only the best affordable one counts."""
    payable = (s for s in sections if position.colours[s.colour].price <= position.asari)
    return max((section_worth(position, section, buyers) for section in payable), default=0.0)


@lru_cache(maxsize=100)
def market_worth(position: Position, kind: asara.SectionKind, buyers: int) -> float:
    """A market is worth what it sells, wanted or not."""
    return best_worth(position, position.markets[kind].display, buyers)


@lru_cache(maxsize=100)
def pile_worth(position: Position, kind: asara.SectionKind, buyers: int) -> float:
    """A pile is likely to hold the most wanted section."""
    if not position.markets[kind].pile_size:
        return 0.0
    wanted = [asara.Section(kind=kind, colour=colour, gold=True) for colour in position.colours]
    return FITTING * max(0.0, best_worth(position, wanted, buyers))


def lit_worth(position: Position, colour: asara.Colour, buyers: int) -> float:
    """A lit window is worth something if it can cover a dark window."""
    held = position.held[colour]
    more = held._replace(lit_windows=held.lit_windows + 1)
    return colour_worth(position, colour, more, buyers) - colour_worth(
        position, colour, held, buyers
    )


def offer_worth(position: Position, price: int, buyers: int) -> float:
    """One of the offered lit windows probably fits; a second one seldom does."""
    best = max(lit_worth(position, colour, buyers) for colour in position.colours)
    return FITTING * best + money_worth(position, -price, buyers)


def gift_worth(position: Position, card: asara.GiftCard, buyers: int) -> float:
    """A card is worth what it brings, even if that is an unwanted purchase."""
    match card.kind:
        case GiftKind.GIFT_KIND_BUY_SECTION:
            return market_worth(position, card.section_kind, buyers)
        case GiftKind.GIFT_KIND_BUY_LIT_WINDOW:
            return offer_worth(position, card.asari, buyers)
        case GiftKind.GIFT_KIND_CHOOSE_BUYER:
            return BUYER
    return card.prestige + money_worth(position, card.asari, buyers)


# Spaces and buyers


def plot_worth(position: Position, plot: int, buyers: int) -> float:
    """Building turns likely prestige into certain prestige, up to the size of the plot."""
    gain = 0.0
    for colour, held in position.held.items():
        gain += build_worth(position, colour, held, 1.0, position.years_after + 1)
        gain -= build_worth(position, colour, held, *outlook(position, buyers))
    return gain * min(1.0, plot / max(1, position.ready))


def move_worth(position: Position, space: asara.Space, buyers: int) -> float:
    """A move is worth its effect, plus the money it brings or minus its cost."""
    info = position.spaces[space.area, space.number]
    worth = money_worth(position, info.income - info.cost, buyers)
    match space.area:
        case Area.AREA_BUILDING_CIRCLE:
            return worth + plot_worth(position, space.number, buyers)
        case Area.AREA_HOUSE_OF_SPIES:
            return worth + max(pile_worth(position, kind, buyers) for kind in position.markets)
        case Area.AREA_CALIPHS_PATRONAGE:
            return worth + 1.0 + (FIRST_TURN if position.years_after else 0.0)
        case Area.AREA_TENT:
            return worth + position.edition.tent_buyers * BUYER
        case Area.AREA_HOUSE_OF_LIGHTED_WINDOWS:
            return worth + offer_worth(
                position, position.edition.lit_window_offers[0].asari, buyers
            )
        case Area.AREA_HOUSE_OF_THE_BOTTLE_GENIE:
            return worth + wish_worth(position, buyers)
        case Area.AREA_BANK | Area.AREA_COLOURED_BUILDING:
            return worth
    # A market has the number of the kind that it sells.
    market = next(kind for kind in position.markets if int(kind) == int(space.area))
    return worth + max(0.0, market_worth(position, market, buyers))


@lru_cache(maxsize=10)
def wish_worth(position: Position, buyers: int) -> float:
    """The genie is worth the best move that he can grant."""
    spaces = [info.space for (area, _), info in position.spaces.items() if area not in GENIE_CANNOT]
    return max(move_worth(position, space, buyers) for space in spaces)


def space_worth(position: Position, space: asara.Space) -> float:
    """A space is worth its gifts, its move, and the future turns of the remaining buyers."""
    hand = position.hand - Counter(cheapest_lay(position, space.area))
    buyers = building_buyers(position, hand)
    worth = hand.total() * BUYER + move_worth(position, space, buyers)
    worth += sum(colour_worth(position, c, held, buyers) for c, held in position.held.items())
    gifts = position.gifts.get((space.area, space.number), ())
    return worth + sum(gift_worth(position, card, buyers) for card in gifts)


def building_buyers(position: Position, hand: Counter[asara.BuyerColour]) -> int:
    """If no buyer has the colour of the circle, one build takes two buyers."""
    colour = position.area_colours.get(CIRCLE)
    return hand.total() - (1 if colour and not hand[colour] else 0)


def keep_worth(position: Position, buyer: asara.BuyerColour) -> float:
    """A buyer is worth keeping if areas require his colour, above all the circle."""
    asking = [area for area, colour in position.area_colours.items() if colour == buyer]
    return BUYER + FOLLOWING * (len(asking) + (CIRCLE in asking)) + 0.1 * position.hand[buyer]


def cheapest_lay(position: Position, area: asara.Area) -> list[asara.BuyerColour]:
    """A space costs the buyer of its colour, or else the least useful buyers."""
    colour = position.area_colours.get(area)
    if colour and position.hand[colour]:
        return [colour]
    hand = sorted(position.hand.elements(), key=lambda buyer: keep_worth(position, buyer))
    return hand[: 2 if colour else 1]


def lay_worth(position: Position, lay: asara.LayBuyers) -> float:
    """Keep useful buyers; open an area with a colour that others can follow."""
    worth = -sum(keep_worth(position, buyer) for buyer in lay.buyers)
    return worth if lay.face_down else worth + FOLLOWING * position.hand[lay.buyers[0]]


# Decisions


def step_worth(position: Position, action: asara.Action) -> float:
    """Found towers first, then extend the tallest; light windows without gold before gold ones."""
    if action.HasField("extend_tower"):
        return next(height(t) for t in position.towers if t.number == action.extend_tower.tower)
    found, light = action.found_tower, action.light_window
    return 99.0 + found.colour if action.HasField("found_tower") else -1.0 * light.gold


def action_worth(position: Position, action: asara.Action) -> float:
    buyers = building_buyers(position, position.hand)
    match action.WhichOneof("action"):
        case "choose_space":
            return space_worth(position, action.choose_space.space)
        case "lay_buyers":
            return lay_worth(position, action.lay_buyers)
        case "take_section":
            return section_worth(position, action.take_section.section, buyers)
        case "build_count":
            return action.build_count.count
        case "found_tower" | "extend_tower" | "light_window":
            return step_worth(position, action)
        case "search_pile":
            return pile_worth(position, action.search_pile.kind, buyers)
        case "pay_offer":
            return offer_worth(position, action.pay_offer.asari, buyers)
        case "keep_lit_windows":
            return sum(lit_worth(position, c, buyers) for c in action.keep_lit_windows.colours)
        case "wish":
            return move_worth(position, action.wish.space, buyers)
        case "choose_buyer":
            return keep_worth(position, action.choose_buyer.buyer)
    return 0.0  # declining


def decide(decision: asara.Decision, match: asara.Match) -> asara.Action:
    position = Position(decision, match)
    return max(decision.legal_actions, key=lambda action: action_worth(position, action))


if __name__ == "__main__":
    asara.run(decide, bot_name="greedy", max_matches=16)
