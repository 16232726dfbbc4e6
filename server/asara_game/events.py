"""Events: what everybody at the table saw.

Every field of every event is public, so one event is the same for all seats and watchers; what a
seat alone may know is in its `PrivateView`. Adding up `asari` and `prestige` by seat gives every
purse and score.
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
    """Starting money or yearly income."""

    seat: int
    asari: int = 0
    prestige: int = 0


class DisplayFilled(NamedTuple):
    """A display was filled from its pile; sections by colour, plain before gold."""

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
    """`count` buyers lie on a space; `colour` is 0 for what lies face down."""

    seat: int
    space: Space
    colour: BuyerColour | int
    count: int  # type: ignore[assignment]  # hides tuple.count, which no event needs
    asari: int = 0
    prestige: int = 0


class GiftTaken(NamedTuple):
    """A gift card took effect, or could not (RULES R10)."""

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
    """An optional move was left undone (RULES R3)."""

    seat: int
    asari: int = 0
    prestige: int = 0


class MoveLost(NamedTuple):
    """A gift left the seat unable to make the space's move (RULES R10)."""

    seat: int
    asari: int = 0
    prestige: int = 0


class FundsTaken(NamedTuple):
    """Money from the bank or the coloured building."""

    seat: int
    space: Space
    asari: int = 0
    prestige: int = 0


class PileSearched(NamedTuple):
    """A bribe was paid to search a pile."""

    seat: int
    kind: SectionKind
    asari: int = 0
    prestige: int = 0


class PatronageTaken(NamedTuple):
    """The patronage tile went to `seat`."""

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
    """Lit windows were kept; a price paid through a gift card is in `asari`."""

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
    """The genie grants this space's move."""

    seat: int
    space: Space
    asari: int = 0
    prestige: int = 0


class BuildStarted(NamedTuple):
    """A plot was paid; `count` sections will be built."""

    seat: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which no event needs
    asari: int = 0
    prestige: int = 0


class TowerFounded(NamedTuple):
    """A tower of this number now stands."""

    seat: int
    number: int
    tower: Tower
    asari: int = 0
    prestige: int = 0


class TowerExtended(NamedTuple):
    """The tower of number `tower` has one more section."""

    seat: int
    tower: int
    section: Section
    asari: int = 0
    prestige: int = 0


class WindowLit(NamedTuple):
    """A window of the tower of number `tower` was covered; `gold` if that hid gold."""

    seat: int
    tower: int
    gold: bool
    asari: int = 0
    prestige: int = 0


class YearEvaluated(NamedTuple):
    """One seat's evaluation at the end of a year: prestige by source."""

    seat: int
    towers: int
    gold: int
    lit_windows: int
    patronage: int
    asari: int = 0
    prestige: int = 0


class FinalEvaluated(NamedTuple):
    """One seat's evaluation after the last year: prestige by colour, and by other source."""

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
