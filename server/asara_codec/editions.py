"""Converts the numbers of a match to the message Edition, and back.

The message holds only the numbers in force in one match: its hand size, board and gift deck. An
edition made from the message also has numbers for other rule sets, but no match uses them.
"""

from collections import Counter
from functools import lru_cache
from typing import Any

from asara.v1.play_pb2 import MatchStarted
from asara.v1.vocabulary_pb2 import Award as AwardMessage
from asara.v1.vocabulary_pb2 import (
    BuyerCount,
    ColourInfo,
    GiftCount,
    LitWindowOffer,
    SpaceInfo,
    TileCount,
)
from asara.v1.vocabulary_pb2 import Edition as EditionMessage
from asara_codec.encode import enum_value, serialize
from asara_codec.reflection import CodecError, enum_member, from_message, to_message
from asara_game.edition import Award, Edition, LitOffer
from asara_game.rules import Rules
from asara_game.vocabulary import (
    MARKETS,
    Area,
    BuyerColour,
    Colour,
    GiftCard,
    RuleSet,
    Space,
)


def rule_set_numbers(rules: Rules) -> Any:
    """Return the rule sets in force, in rising order."""
    return sorted(int(rule_set) for rule_set in rules.rule_sets)


@lru_cache(maxsize=64)
def edition_message(rules: Rules) -> EditionMessage:
    """Return the numbers in force. Callers share the message and must not change it."""
    edition = rules.edition
    professional = RuleSet.PROFESSIONAL in rules.rule_sets
    return EditionMessage(
        name=edition.name,
        years=edition.years,
        colours=[
            ColourInfo(
                colour=enum_value(colour),
                price=edition.prices[colour - 1],
                lit_windows=edition.lit_windows[colour - 1] if professional else 0,
                highest_tower=_award(edition.colour_awards[colour - 1]),
            )
            for colour in Colour
        ],
        tiles=[
            TileCount(kind=enum_value(kind), colour=enum_value(colour), plain=plain, gold=gold)
            for kind in MARKETS
            for colour, (plain, gold) in zip(Colour, edition.tiles[kind - 1], strict=True)
        ],
        buyers=[
            BuyerCount(colour=enum_value(colour), count=edition.buyers[colour - 1])
            for colour in BuyerColour
        ],
        hand_size=rules.hand_size,
        starting_asari=edition.starting_asari[: rules.seats],
        yearly_asari=edition.yearly_asari,
        display_size=edition.display_size,
        spaces=[
            SpaceInfo(
                space=to_message(info.space),
                cost=info.cost,
                income=info.income,
                chest=info.chest >= 0,
            )
            for info in rules.spaces
        ],
        lit_window_offers=[
            LitWindowOffer(asari=offer.asari, drawn=offer.drawn, kept=offer.kept)
            for offer in (edition.lit_offers if professional else ())
        ],
        gifts=[
            GiftCount(card=to_message(rules.gift_cards[index]), count=count)
            for index, count in sorted(Counter(rules.gift_deck).items())
        ],
        tent_buyers=edition.tent_buyers if professional else 0,
        highest_tower=_award(edition.highest_award),
        most_towers=_award(edition.most_award),
        asari_per_prestige=edition.asari_per_prestige,
    )


def _award(award: Award) -> AwardMessage:
    return AwardMessage(first=award.first, second=award.second)


def rules_from_proto(started: MatchStarted) -> Rules:
    """Return the rules of a match, for a bot that searches. Raises ValueError if they are invalid.

    Matches with the same edition, rule sets and number of seats share one object. Its edition has
    no sources and no file, so the `sha256` differs from the one in MatchStarted.
    """
    return _rules(serialize(started.edition), tuple(started.rule_sets), started.seats)


@lru_cache(maxsize=64)
def _rules(edition: bytes, rule_sets: tuple[int, ...], seats: int) -> Rules:
    chosen = frozenset(enum_member(RuleSet, value, "rule_sets") for value in rule_sets)
    return Rules(edition_from_proto(EditionMessage.FromString(edition)), chosen, seats)


def edition_from_proto(message: EditionMessage) -> Edition:
    """Return an edition that plays like the original under the same rule sets."""
    colours: dict[int, ColourInfo] = {entry.colour: entry for entry in message.colours}
    tiles: dict[tuple[int, int], tuple[int, int]] = {
        (entry.kind, entry.colour): (entry.plain, entry.gold) for entry in message.tiles
    }
    buyers: dict[int, int] = {entry.colour: entry.count for entry in message.buyers}
    printed, chests = _spaces(message)

    def numbers(area: Area) -> tuple[int, ...]:
        return tuple(info.space.number for info in printed[area])

    try:
        return Edition(
            name=message.name,
            years=message.years,
            prices=tuple(colours[colour].price for colour in Colour),
            tiles=tuple(tuple(tiles[kind, colour] for colour in Colour) for kind in MARKETS),
            lit_windows=tuple(colours[colour].lit_windows for colour in Colour),
            buyers=tuple(buyers[colour] for colour in BuyerColour),
            hand_sizes=(message.hand_size, message.hand_size, message.hand_size),
            starting_asari=tuple(message.starting_asari),
            yearly_asari=message.yearly_asari,
            market_spaces=len(printed[Area.BASE_MARKET]),
            display_size=message.display_size,
            plots=numbers(Area.BUILDING_CIRCLE),
            bank=numbers(Area.BANK),
            coloured_building=printed[Area.COLOURED_BUILDING][0].income,
            spies=numbers(Area.HOUSE_OF_SPIES),
            patronage_spaces=len(printed[Area.CALIPHS_PATRONAGE]),
            tent=numbers(Area.TENT),
            tent_buyers=message.tent_buyers,
            lit_spaces=len(printed[Area.HOUSE_OF_LIGHTED_WINDOWS]),
            lit_offers=tuple(
                LitOffer(offer.asari, offer.drawn, offer.kept)
                for offer in message.lit_window_offers
            )
            or (LitOffer(1, 1, 1),),
            genie=numbers(Area.HOUSE_OF_THE_BOTTLE_GENIE),
            gifts=tuple(
                (from_message(GiftCard, entry.card, "edition.gifts"), entry.count)
                for entry in message.gifts
            ),
            chests=chests,
            gifts_professional=(),
            chests_professional=(),
            colour_awards=tuple(_read_award(colours[colour].highest_tower) for colour in Colour),
            highest_award=_read_award(message.highest_tower),
            most_award=_read_award(message.most_towers),
            asari_per_prestige=message.asari_per_prestige,
        )
    except (KeyError, IndexError):
        raise CodecError(
            "edition: a colour, kind or area is missing; a newer referee may have sent it"
        ) from None


def _spaces(message: EditionMessage) -> tuple[dict[int, list[SpaceInfo]], tuple[Space, ...]]:
    """Return the spaces by area, and the spaces with a chest."""
    printed: dict[int, list[SpaceInfo]] = {area: [] for area in Area}
    chests = []
    for info in message.spaces:
        space = from_message(Space, info.space, "edition.spaces")
        printed[space.area].append(info)
        if info.chest:
            chests.append(space)
    return printed, tuple(chests)


def _read_award(message: AwardMessage) -> Award:
    return Award(message.first, message.second)
