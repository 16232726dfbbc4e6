"""Two referees in two worlds that one seat cannot tell apart, and what each would send it.

The first referee plays a match. At every decision, the second one, which has played the same match,
is put into another world: one in which everything is different that is hidden from the seat. Then
the seat's bot reconnects to both of them, and sends both of them invalid replies. Their messages
must be the same, byte for byte.

Watchers are compared as well: what a watch shows that starts now is the same in both worlds, and
from the beginning of a turn to its end.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.clocks import Clocks
from asara_codec.encode import action_message
from asara_codec.messages import match_started_bytes
from asara_game.actions import Action
from asara_game.engine import apply
from asara_game.events import (
    BuyersDispatched,
    Event,
    GiftTaken,
    LitWindowsDrawn,
    PileSearched,
    YearEvaluated,
)
from asara_game.knowledge.determinize import determinize
from asara_game.rules import parse_rule_sets
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import DecisionKind, GiftKind
from asara_server.journal.replay import ReplayHeader
from asara_server.match import feed
from asara_server.match.inputs import Presence
from asara_server.match.match import Answer, Match
from asara_server.match.spec import MatchLimits, MatchSpec, Player
from asara_server.web.live_matches import LiveMatch
from tests.game.play import Policy
from tests.game.table import rules

Message = tuple[int, bytes]
Speak = Callable[[Match], None]
_LIMITS = MatchLimits(rejections_forgiven=10**6)
_AT_REST = (DecisionKind.SPACE, DecisionKind.BUYERS)
"""Decisions between turns: until the buyers are laid, the chosen space is not public."""


class Leak(AssertionError):
    """A seat could tell two worlds apart."""


def referee(rule_sets: str, seats: int, secret: bytes) -> Match:
    """A match whose bots all have live updates."""
    players = tuple(Player(name, f"token-{name}") for name in "abcd"[:seats])
    spec = MatchSpec("m1", rules(rule_sets, seats), players, Clocks(), secret)
    match = Match(spec, _LIMITS)
    match.start({seat: Presence(live_updates=True) for seat in range(seats)}, {})
    return match


@contextmanager
def living_in(match: Match, world: State) -> Iterator[None]:
    """Put a match and its views into another world for a while."""
    true_world, seen, shown = match.state, match.feed._view, match.feed.public
    match.state = world
    match.feed._view = vars(feed)["RunningView"](world)
    if world.seat < 0 or world.kind in _AT_REST:
        match.feed.public = match.feed._view.public()
    yield
    match.state, match.feed._view, match.feed.public = true_world, seen, shown


def watched(match: Match, after: int) -> list[bytes]:
    """All that a browser is sent that starts to watch this match now, between two ticks.

    Raises Leak if anything of it has to wait.
    """
    live = LiveMatch(ReplayHeader.of(match.spec, match.limits, started_unix_ms=0), _never)
    live.match = match
    live.watchers = 1
    following = live.watch(after)
    sent: list[bytes] = []
    while len(sent) < 1 + (match.feed.turn_ends[-1] > after):
        try:
            anext(following).__await__().send(None)
        except StopIteration as message:
            sent.append(message.value)
        else:
            raise Leak("a watch waits for the end of the turn")
    return sent


async def _never() -> None:
    raise Leak("a watch waits for a tick")


class Twins:
    """A match and its twin.

    `worlds` counts the other worlds tried, `different` those that differ in all hidden things,
    `rich` those in which a rival has more than twice a year's income, and `places` those in which
    rivals know other places in the stack of lit windows.
    """

    def __init__(self, rule_sets: str, seats: int, seed: int) -> None:
        parse_rule_sets(rule_sets)
        self.dice = random.Random(seed)
        secret = self.dice.randbytes(32)
        self.match, self.twin = (referee(rule_sets, seats, secret) for _ in range(2))
        self.seats = seats
        self.now = 1_000
        self.worlds = self.different = self.rich = self.places = 0
        self.strange: list[Action] = []
        self.turn_began = 0
        self.watched: list[bytes] = []
        self.decisions = [0] * seats
        for match in self._both():
            match.outbox.clear()
        self.decisions[self.state.seat] = 1

    @property
    def state(self) -> State:
        return self.match.state

    def _both(self) -> tuple[Match, Match]:
        return self.match, self.twin

    def play(self, policy: Policy) -> None:
        """Compare at every decision up to the end of the match."""
        while not self.match.finished:
            state = self.state
            self.compare_watched()
            self.compare_asked(state.seat)
            if state.kind == DecisionKind.SPACE:
                for seat in range(self.seats):
                    if seat != state.seat:
                        self.compare_waiting(seat)
            action = policy(state.legal, self.dice)
            self.strange += self.dice.sample(list(state.legal), 1)
            compare_futures(state, action, self.dice)
            self._answer(action)

    def _answer(self, action: Action) -> None:
        """Both referees accept the action, and send no other seat a turn that is not over."""
        seat = self.state.seat
        self.now += 1_000
        told: list[list[Message]] = []
        for match in self._both():
            answer = match.reply(seat, self.decisions[seat], [action_message(action)], self.now)
            assert answer is Answer.ACCEPTED
            match.record_reply(referee_us=0)
            told.append(list(match.outbox))
            match.outbox.clear()
        assert told[0] == told[1]
        after = self.state
        if after.seat == seat and after.kind not in _AT_REST:
            others = {to for to, _ in told[0]} - {seat}
            if others:
                raise Leak(f"seats {others} hear of seat {seat}'s turn before it is over")
        if after.seat >= 0:
            self.decisions[after.seat] += 1

    def _table(self, match: Match, seat: int) -> bytes:
        """MatchStarted as a bot that reconnects would be sent it."""
        return match_started_bytes(
            match_id="m1",
            view=vars(feed)["RunningView"](match.state).of(seat),  # made anew
            clocks=match.clocks,
            deal_commitment=match.spec.commitment,
            sequence=len(match.feed.events),
            resumed=True,
        )

    def compare_watched(self) -> None:
        """A watch that starts within a turn shows what it showed when the turn began."""
        if self.state.kind == DecisionKind.SPACE:
            self.turn_began = self.match.feed.turn_ends[-1]
            self.watched = watched(self.match, self.turn_began - 3)
        elif watched(self.match, self.turn_began - 3) != self.watched:
            raise Leak(f"watchers hear of seat {self.state.seat}'s turn before it is over")

    def compare_asked(self, seat: int) -> None:
        """The bot of the seat that decides reconnects and sends invalid replies, in both worlds."""
        world = determinize(view(self.state, seat), self.dice)
        presence = Presence(
            live_updates=True,
            omit_public_view=self.dice.random() < 0.2,
            last_sequence=self.dice.choice((None, 0, len(self.match.feed.events) - 2)),
        )
        some = self.dice.sample(self.strange, min(2, len(self.strange)))
        nonsense = [ActionMessage(), *map(action_message, some)]
        legal = [action_message(action) for action in self.state.legal]
        nonsense = [message for message in nonsense if message not in legal]

        def speak(match: Match) -> None:
            match.leave(seat, self.now)
            match.enter(seat, presence, self.now)
            for message in nonsense:
                match.reply(seat, self.decisions[seat], [message], self.now)
            match.reply(seat, self.decisions[seat], [], self.now)
            match.reply(seat, 10**9, legal[:1], self.now)

        heard = self._compare(seat, world, speak)
        assert len(heard) >= 3 + len(nonsense)

    def compare_waiting(self, seat: int) -> None:
        """A seat that waits for another's turn would be sent the same view in both worlds."""
        world = determinize(view(self.state, seat), self.dice)
        after = len(self.match.feed.events) - 3

        def speak(match: Match) -> None:
            match.reply(seat, 10**9, [ActionMessage()], self.now)
            match.outbox.append((seat, self._table(match, seat)))
            match.outbox += [(seat, data) for data in watched(match, after)]

        self._compare(seat, world, speak)

    def _compare(self, seat: int, world: State, speak: Speak) -> list[Message]:
        self.worlds += 1
        self.different += all(
            mine != theirs
            for mine, theirs in zip(hidden(self.state, seat), hidden(world, seat), strict=True)
        )
        others = [asari for other, asari in enumerate(world.money) if other != seat]
        self.rich += max(others) > 2 * world.rules.edition.yearly_asari
        self.places += known_places(world) != known_places(self.state)
        heard = []
        with living_in(self.twin, world):
            for match in self._both():
                speak(match)
                heard.append(list(match.outbox))
                match.outbox.clear()
        if heard[0] != heard[1]:
            kind = self.state.kind.name
            raise Leak(f"seat {seat} can tell two worlds apart at {kind} of seat {self.state.seat}")
        assert {to for to, _ in heard[0]} == {seat}
        return heard[0]


# Futures


def compare_futures(state: State, action: Action, dice: random.Random) -> None:
    """The same action causes the same events in another world, up to what it reveals.

    If the turn continues and nothing was revealed, the seat still cannot tell the worlds apart.
    """
    seat = state.seat
    futures = []
    for world in (state.copy(), determinize(view(state, seat), dice)):
        at_rest = world.kind in _AT_REST
        told, revealed = own_turn(apply(world, action), at_rest)
        over = revealed or world.seat != seat or world.kind in _AT_REST
        futures.append((told, None if over else view(world, seat)))
    if futures[0] != futures[1]:
        raise Leak(f"'{action}' shows seat {seat} which world it is in")


def own_turn(events: Sequence[Event], at_rest: bool) -> tuple[list[Event], bool]:
    """Events up to the end of the turn or the first that reveals, and True if one does."""
    told: list[Event] = []
    for event in events:
        if isinstance(event, YearEvaluated):
            break
        if isinstance(event, BuyersDispatched):
            if not at_rest:
                break
            at_rest = False
        told.append(event)
        if reveals(event):
            return told, True
    return told, False


def reveals(event: Event) -> bool:
    """True if the seat sees something new after this event."""
    if isinstance(event, GiftTaken):
        looks = (GiftKind.CHOOSE_BUYER, GiftKind.BUY_LIT_WINDOW)
        return event.effective and event.card.kind in looks
    return isinstance(event, PileSearched | LitWindowsDrawn)


def known_places(state: State) -> list[int]:
    """By place in the stack of lit windows: 0, or the seat that knows it, counted from 1."""
    return [window >> 3 for window in state.lit_stack]


def hidden(state: State, seat: int) -> Iterator[object]:
    """The things hidden from a seat, as far as there is something to know about them."""
    others = [other for other in range(state.rules.seats) if other != seat]
    yield [state.money[other] for other in others]
    if sum(state.hand_sizes[other] for other in others) > 2:
        yield [state.hands[other] for other in others]
    if sum(map(len, state.piles)) > 5:
        yield state.piles
    if state.rules.professional and len(state.lit_stack) > 5:
        yield [window & 7 for window in state.lit_stack]
    if state.rules.gifts and len(state.gift_deck) > 4:
        yield state.gift_deck
