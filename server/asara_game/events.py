"""Events: everything that happens in sight of all.

Every field of every event is public, so all seats and spectators receive the same events. Hidden
knowledge is in each seat's `PrivateView`. A seat's purse is the sum of `asari` over its events, and
its score is the sum of `prestige`.
"""

from __future__ import annotations

from typing import NamedTuple

from .vocabulary import BuyerColour, GiftCard, Section, SectionKind, Space, Tower


class YearStarted(NamedTuple):
    """All buyers were shuffled and dealt; `seat` starts."""

    seat: int
    year: int
    hand_size: int
    asari: int = 0
    prestige: int = 0


class IncomeReceived(NamedTuple):
    """Starting money or yearly income was paid to a seat."""

    seat: int
    asari: int = 0
    prestige: int = 0


class DisplayFilled(NamedTuple):
    """Sections were added to a display, by colour, plain before gold."""

    seat: int
    sections: tuple[Section, ...]
    asari: int = 0
    prestige: int = 0


class GiftLaid(NamedTuple):
    """A gift card was laid on a chest space."""

    seat: int
    space: Space
    card: GiftCard
    asari: int = 0
    prestige: int = 0


class BuyersDispatched(NamedTuple):
    """`count` buyers were laid on a space; `colour` is 0 for face-down buyers."""

    seat: int
    space: Space
    colour: BuyerColour | int
    count: int  # type: ignore[assignment]  # hides tuple.count, which no event needs
    asari: int = 0
    prestige: int = 0


class GiftTaken(NamedTuple):
    """A gift card was taken. `effective` is False if the card could do nothing (ruling R10)."""

    seat: int
    card: GiftCard
    effective: bool
    asari: int = 0
    prestige: int = 0


class SectionTaken(NamedTuple):
    """A section was bought from a display or a searched pile."""

    seat: int
    section: Section
    from_pile: bool
    asari: int = 0
    prestige: int = 0


class MoveDeclined(NamedTuple):
    """A seat declined an optional move (ruling R3)."""

    seat: int
    asari: int = 0
    prestige: int = 0


class MoveLost(NamedTuple):
    """After a gift card, the seat can no longer make the space's move (ruling R10)."""

    seat: int
    asari: int = 0
    prestige: int = 0


class FundsTaken(NamedTuple):
    """The bank or the coloured building paid money."""

    seat: int
    space: Space
    asari: int = 0
    prestige: int = 0


class PileSearched(NamedTuple):
    """A seat paid a bribe and searched a pile."""

    seat: int
    kind: SectionKind
    asari: int = 0
    prestige: int = 0


class PatronageTaken(NamedTuple):
    """The seat took the patronage tile."""

    seat: int
    asari: int = 0
    prestige: int = 0


class BuyersRecruited(NamedTuple):
    """Buyers were drawn in the tent."""

    seat: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which no event needs
    asari: int = 0
    prestige: int = 0


class LitWindowsDrawn(NamedTuple):
    """Lit windows were paid for and drawn."""

    seat: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which no event needs
    asari: int = 0
    prestige: int = 0


class LitWindowsKept(NamedTuple):
    """Lit windows were kept, or one was bought through a gift card for the price in `asari`."""

    seat: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which no event needs
    asari: int = 0
    prestige: int = 0


class GeniePaid(NamedTuple):
    """The genie was paid for a wish."""

    seat: int
    asari: int = 0
    prestige: int = 0


class WishMade(NamedTuple):
    """A seat wished for the move of a space."""

    seat: int
    space: Space
    asari: int = 0
    prestige: int = 0


class BuildStarted(NamedTuple):
    """A plot was paid for; `count` sections will be built on it."""

    seat: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which no event needs
    asari: int = 0
    prestige: int = 0


class TowerFounded(NamedTuple):
    """A tower was founded; `number` counts its owner's towers from 1."""

    seat: int
    number: int
    tower: Tower
    asari: int = 0
    prestige: int = 0


class TowerExtended(NamedTuple):
    """A section was added to tower `number`."""

    seat: int
    tower: int
    section: Section
    asari: int = 0
    prestige: int = 0


class WindowLit(NamedTuple):
    """A window in tower `number` was lit; `gold` is True if the lit window covers gold."""

    seat: int
    tower: int
    gold: bool
    asari: int = 0
    prestige: int = 0


class YearEvaluated(NamedTuple):
    """A seat was evaluated at the end of a year; prestige is listed by source."""

    seat: int
    towers: int
    gold: int
    lit_windows: int
    patronage: int
    asari: int = 0
    prestige: int = 0


class FinalEvaluated(NamedTuple):
    """A seat was evaluated after the last year; prestige is listed by colour and other source."""

    seat: int
    colours: tuple[int, ...]
    highest_tower: int
    most_towers: int
    money: int
    asari: int = 0
    prestige: int = 0


Event = (
    YearStarted
    | IncomeReceived
    | DisplayFilled
    | GiftLaid
    | BuyersDispatched
    | GiftTaken
    | SectionTaken
    | MoveDeclined
    | MoveLost
    | FundsTaken
    | PileSearched
    | PatronageTaken
    | BuyersRecruited
    | LitWindowsDrawn
    | LitWindowsKept
    | GeniePaid
    | WishMade
    | BuildStarted
    | TowerFounded
    | TowerExtended
    | WindowLit
    | YearEvaluated
    | FinalEvaluated
)
