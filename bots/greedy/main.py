"""Plays by rules of thumb: gives every legal action a worth in prestige, and takes the best.

`Table` reads a decision; nothing is remembered of earlier ones. Each function below it is one rule
of thumb, said in its docstring; `action_worth`, at the end, picks the one that applies. A worth is
what may come of something until the end of the match. `buyers` is always how many will be left to
build this year, after the turn that is being weighed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import asara
from asara import Area, GiftKind, SectionKind

# Worths, in prestige
BUYER = 1.4  # one more turn this year
FOLLOWING = 0.5  # a buyer whose colour an area asks for: alone he does the work of two
ASARI = 0.7  # the first one; each further one is worth less
IDLE_ASARI = 0.1  # one that nothing can be bought for any more
FIRST_TURN = 0.5  # going first next year

# Hopes
BUILDING = (0.0, 0.5, 0.7, 0.85, 0.95)  # to build this year, by buyers left for it
WAITING = 0.6  # part of its worth that a section keeps when it waits for the next year
STAYING_AHEAD = (0.25, 0.15, 0.12, 0.1)  # per level of a lead, by years after this one
ON_DISPLAY = 0.45  # to get a base or turret later that is on display now
IN_PILE = 0.1  # to get one that is not
FITTING = 0.7  # to find what is wanted among what nobody has seen
SPENDING = 5.5  # Asari that one turn can use

BASE, TURRET = SectionKind.SECTION_KIND_BASE, SectionKind.SECTION_KIND_TURRET
CIRCLE = Area.AREA_BUILDING_CIRCLE
GENIE_CANNOT = (Area.AREA_HOUSE_OF_THE_BOTTLE_GENIE, Area.AREA_CALIPHS_PATRONAGE)


class Held(NamedTuple):
    """Unbuilt sections of one colour; trunks and windows are both middles."""

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


class Table:
    """What a decision says, in the form in which the rules of thumb ask for it."""

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


def award_worth(table: Table, award: asara.Award, size: int, rivals: Sequence[int]) -> float:
    """A lead promises an award, the more surely the fewer years are left to catch up."""
    if not size:
        return 0.0
    per_level = STAYING_AHEAD[min(table.years_after, len(STAYING_AHEAD) - 1)]
    best, second_best = sorted((*rivals, 0, 0), reverse=True)[:2]
    first = min(1.0, max(0.0, 0.5 + per_level * (size - best)))
    first_or_second = min(1.0, max(0.0, 0.5 + per_level * (size - second_best)))
    return award.first * first + award.second * (first_or_second - first)


@lru_cache(maxsize=1000)
def height_worth(table: Table, colour: asara.Colour, size: int) -> float:
    """A tower competes with those of its colour, and the tallest one with all others."""
    award, rivals = table.colours[colour].highest_tower, table.rival_towers
    worth = award_worth(table, award, size, [tall for c, tall in rivals if c == colour])
    tallest = max(size, *(tall for c, tall in table.tallest.items() if c != colour))
    award = table.edition.highest_tower
    return worth + award_worth(table, award, tallest, [tall for _, tall in rivals])


@lru_cache(maxsize=1)
def founding_worth(table: Table) -> float:
    """One more tower brings the award for the most towers nearer, whatever its colour."""
    planned = len(table.towers) + sum(min(held[:2]) for held in table.held.values())
    award, rivals = table.edition.most_towers, table.rival_numbers
    more = award_worth(table, award, planned + 1, rivals)
    return more - award_worth(table, award, planned, rivals)


def ready_sections(table: Table, colour: asara.Colour, held: Held) -> int:
    """A build takes pairs of base and turret, and whatever fits a tower."""
    pairs = min(held.bases, held.turrets)
    middles = held.middles if pairs or table.tallest[colour] else 0
    return 2 * pairs + middles + min(held.lit_windows, table.dark_windows[colour])


def build_worth(
    table: Table, colour: asara.Colour, held: Held, sure: float, evaluations: float
) -> float:
    """Sections bring prestige when built and height at the end; towers, gold and light every year.

    `sure` is the chance that they get built; `evaluations` is how many of them they will see.
    """
    sections = ready_sections(table, colour, held)
    if not sections:
        return 0.0
    pairs, before = min(held.bases, held.turrets), table.tallest[colour]
    lit = min(held.lit_windows, table.dark_windows[colour])
    gold = held.gold * (sections - lit) / max(1, held.bases + held.turrets + held.middles)
    after = max(before, 2) + held.middles
    once = height_worth(table, colour, after) - height_worth(table, colour, before)
    once += sections + pairs * founding_worth(table)
    return once * sure + (pairs + gold + lit) * evaluations


def outlook(table: Table, buyers: int) -> tuple[float, float]:
    """What cannot be built is worth nothing: keep buyers for the circle until the year ends."""
    now = BUILDING[max(0, min(buyers, len(BUILDING) - 1))]
    later = (1.0 - now) * WAITING if table.years_after else 0.0
    return now + later, now * (table.years_after + 1) + later * table.years_after


@lru_cache(maxsize=1000)
def colour_worth(table: Table, colour: asara.Colour, held: Held, buyers: int) -> float:
    """A tower that lacks its base or turret is worth a part of what it may become."""
    ready = build_worth(table, colour, held, *outlook(table, buyers))
    homeless = 1 if held.middles and not table.tallest[colour] else 0
    ends = max(held.bases, held.turrets, homeless)
    bases, turrets = ends - held.bases, ends - held.turrets
    if not bases and not turrets:
        return ready
    whole, buyers = held._replace(bases=ends, turrets=ends), buyers - bases - turrets
    hoped = build_worth(table, colour, whole, *outlook(table, buyers))
    hoped += money_worth(table, -table.colours[colour].price * (bases + turrets), buyers)
    chance = chance_of(table, BASE, colour) ** bases * chance_of(table, TURRET, colour) ** turrets
    return ready + chance * max(0.0, hoped - ready)


def chance_of(table: Table, kind: asara.SectionKind, colour: asara.Colour) -> float:
    """A section on display is likelier to be had than one that is in a pile, or with a rival."""
    shown = any(section.colour == colour for section in table.markets[kind].display)
    return ON_DISPLAY if shown else IN_PILE


# Purchases


def money_worth(table: Table, change: int, buyers: int) -> float:
    """Money is worth what the turns to come can buy for it, so less where there is plenty."""
    turns = max(0, buyers) + table.edition.hand_size * table.years_after
    income = table.edition.yearly_asari * table.years_after
    plenty = (table.asari + change / 2 + income) / (SPENDING * turns + 1)
    return change * max(IDLE_ASARI, ASARI * (1 - plenty))


def section_worth(table: Table, section: asara.Section, buyers: int) -> float:
    """A section is worth what it adds to those in hand, less its price."""
    colour, held = section.colour, table.held[section.colour]
    gain = colour_worth(table, colour, held.plus(section), buyers)
    gain -= colour_worth(table, colour, held, buyers)
    return gain + money_worth(table, -table.colours[colour].price, buyers)


def best_worth(table: Table, sections: Iterable[asara.Section], buyers: int) -> float:
    """Of several sections, only the best that one can pay counts."""
    payable = (s for s in sections if table.colours[s.colour].price <= table.asari)
    return max((section_worth(table, section, buyers) for section in payable), default=0.0)


@lru_cache(maxsize=100)
def market_worth(table: Table, kind: asara.SectionKind, buyers: int) -> float:
    """A market is worth what it sells, wanted or not."""
    return best_worth(table, table.markets[kind].display, buyers)


@lru_cache(maxsize=100)
def pile_worth(table: Table, kind: asara.SectionKind, buyers: int) -> float:
    """A pile may well hold what is wanted most."""
    if not table.markets[kind].pile_size:
        return 0.0
    wanted = [asara.Section(kind=kind, colour=colour, gold=True) for colour in table.colours]
    return FITTING * max(0.0, best_worth(table, wanted, buyers))


def lit_worth(table: Table, colour: asara.Colour, buyers: int) -> float:
    """A lit window is worth something where a dark one waits for it."""
    held = table.held[colour]
    more = held._replace(lit_windows=held.lit_windows + 1)
    return colour_worth(table, colour, more, buyers) - colour_worth(table, colour, held, buyers)


def offer_worth(table: Table, price: int, buyers: int) -> float:
    """One of the lit windows on offer may well fit; a second one seldom does."""
    best = max(lit_worth(table, colour, buyers) for colour in table.colours)
    return FITTING * best + money_worth(table, -price, buyers)


def gift_worth(table: Table, card: asara.GiftCard, buyers: int) -> float:
    """A card is worth what it brings, even where that is an unwanted purchase."""
    match card.kind:
        case GiftKind.GIFT_KIND_BUY_SECTION:
            return market_worth(table, card.section_kind, buyers)
        case GiftKind.GIFT_KIND_BUY_LIT_WINDOW:
            return offer_worth(table, card.asari, buyers)
        case GiftKind.GIFT_KIND_CHOOSE_BUYER:
            return BUYER
    return card.prestige + money_worth(table, card.asari, buyers)


# Spaces and buyers


def plot_worth(table: Table, plot: int, buyers: int) -> float:
    """Building makes sure of what is only hoped for, as far as the plot allows."""
    gain = 0.0
    for colour, held in table.held.items():
        gain += build_worth(table, colour, held, 1.0, table.years_after + 1)
        gain -= build_worth(table, colour, held, *outlook(table, buyers))
    return gain * min(1.0, plot / max(1, table.ready))


def move_worth(table: Table, space: asara.Space, buyers: int) -> float:
    """A move is worth what it does, and the money that it brings or costs."""
    info = table.spaces[space.area, space.number]
    worth = money_worth(table, info.income - info.cost, buyers)
    match space.area:
        case Area.AREA_BUILDING_CIRCLE:
            return worth + plot_worth(table, space.number, buyers)
        case Area.AREA_HOUSE_OF_SPIES:
            return worth + max(pile_worth(table, kind, buyers) for kind in table.markets)
        case Area.AREA_CALIPHS_PATRONAGE:
            return worth + 1.0 + (FIRST_TURN if table.years_after else 0.0)
        case Area.AREA_TENT:
            return worth + table.edition.tent_buyers * BUYER
        case Area.AREA_HOUSE_OF_LIGHTED_WINDOWS:
            return worth + offer_worth(table, table.edition.lit_window_offers[0].asari, buyers)
        case Area.AREA_HOUSE_OF_THE_BOTTLE_GENIE:
            return worth + wish_worth(table, buyers)
        case Area.AREA_BANK | Area.AREA_COLOURED_BUILDING:
            return worth
    # A market has the number of the kind that it sells.
    market = next(kind for kind in table.markets if int(kind) == int(space.area))
    return worth + max(0.0, market_worth(table, market, buyers))


@lru_cache(maxsize=10)
def wish_worth(table: Table, buyers: int) -> float:
    """The genie is worth the best move that he grants."""
    spaces = [info.space for (area, _), info in table.spaces.items() if area not in GENIE_CANNOT]
    return max(move_worth(table, space, buyers) for space in spaces)


def space_worth(table: Table, space: asara.Space) -> float:
    """A space is worth its gifts, its move, and what the buyers that are left can still do."""
    hand = table.hand - Counter(cheapest_lay(table, space.area))
    buyers = building_buyers(table, hand)
    worth = hand.total() * BUYER + move_worth(table, space, buyers)
    worth += sum(colour_worth(table, c, held, buyers) for c, held in table.held.items())
    gifts = table.gifts.get((space.area, space.number), ())
    return worth + sum(gift_worth(table, card, buyers) for card in gifts)


def building_buyers(table: Table, hand: Counter[asara.BuyerColour]) -> int:
    """Where no buyer has the colour of the circle, building takes two at once."""
    colour = table.area_colours.get(CIRCLE)
    return hand.total() - (1 if colour and not hand[colour] else 0)


def keep_worth(table: Table, buyer: asara.BuyerColour) -> float:
    """A buyer is worth keeping where areas ask for his colour, and most of all the circle."""
    asking = [area for area, colour in table.area_colours.items() if colour == buyer]
    return BUYER + FOLLOWING * (len(asking) + (CIRCLE in asking)) + 0.1 * table.hand[buyer]


def cheapest_lay(table: Table, area: asara.Area) -> list[asara.BuyerColour]:
    """A space costs the buyer that fits; else those of least use."""
    colour = table.area_colours.get(area)
    if colour and table.hand[colour]:
        return [colour]
    hand = sorted(table.hand.elements(), key=lambda buyer: keep_worth(table, buyer))
    return hand[: 2 if colour else 1]


def lay_worth(table: Table, lay: asara.LayBuyers) -> float:
    """Keep useful buyers; open an area with a colour that others can follow."""
    worth = -sum(keep_worth(table, buyer) for buyer in lay.buyers)
    return worth if lay.face_down else worth + FOLLOWING * table.hand[lay.buyers[0]]


# Decisions


def step_worth(table: Table, action: asara.Action) -> float:
    """Build towers first, then height on the tallest, and spare windows with gold."""
    if action.HasField("extend_tower"):
        return next(height(t) for t in table.towers if t.number == action.extend_tower.tower)
    found, light = action.found_tower, action.light_window
    return 99.0 + found.colour if action.HasField("found_tower") else -1.0 * light.gold


def action_worth(table: Table, action: asara.Action) -> float:
    buyers = building_buyers(table, table.hand)
    match action.WhichOneof("action"):
        case "choose_space":
            return space_worth(table, action.choose_space.space)
        case "lay_buyers":
            return lay_worth(table, action.lay_buyers)
        case "take_section":
            return section_worth(table, action.take_section.section, buyers)
        case "build_count":
            return action.build_count.count
        case "found_tower" | "extend_tower" | "light_window":
            return step_worth(table, action)
        case "search_pile":
            return pile_worth(table, action.search_pile.kind, buyers)
        case "pay_offer":
            return offer_worth(table, action.pay_offer.asari, buyers)
        case "keep_lit_windows":
            return sum(lit_worth(table, c, buyers) for c in action.keep_lit_windows.colours)
        case "wish":
            return move_worth(table, action.wish.space, buyers)
        case "choose_buyer":
            return keep_worth(table, action.choose_buyer.buyer)
    return 0.0  # declining


def decide(decision: asara.Decision, match: asara.Match) -> asara.Action:
    table = Table(decision, match)
    return max(decision.legal_actions, key=lambda action: action_worth(table, action))


if __name__ == "__main__":
    asara.run(decide, bot_name="greedy", max_matches=16)
