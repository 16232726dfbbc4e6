"""What each seat of a match is told, and when. All that bots receive of a match comes from here.

What a seat is told follows from what happened and when, never from what other seats hide:

- Events of another seat's turn are told when that turn is over, one turn at a time. Whether a seat
  was asked within its turn, or forced, depends on its secrets.
- A bot that comes back while its seat is not asked is shown the table with its next decision, for
  the same reason.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

from asara_codec.encode import event_bytes
from asara_codec.limits import Clocks
from asara_codec.messages import (
    deal_committed_bytes,
    decision_bytes,
    match_ended_bytes,
    match_started_bytes,
    rejection_bytes,
    update_bytes,
)
from asara_codec.results import RejectionReason, SeatForfeited, SeatResult
from asara_codec.view_writer import ViewWriter
from asara_game.actions import Action
from asara_game.events import BuyersDispatched, Event
from asara_game.state import State
from asara_game.view import RunningView, view
from asara_game.vocabulary import DecisionKind
from asara_server.match.inputs import Presence

#: The decisions at which the table looks as it did when the last turn was over.
_SPACE: Final = DecisionKind.SPACE
_BUYERS: Final = DecisionKind.BUYERS


class _Ear:
    """How far a seat has been told what happened."""

    __slots__ = ("digest", "owed_forfeit", "owed_table", "presence", "sent")

    def __init__(self) -> None:
        #: Of all messages so far: SHA-256 over the digest before and the message.
        self.digest = bytes(32)
        #: None while the bot is away.
        self.presence: Presence | None = None
        #: Events told, and those that a view told.
        self.sent = 0
        #: The bot came back, and has to be shown the table before anything else.
        self.owed_table = False
        #: The seat forfeited, and its bot has to hear it.
        self.owed_forfeit = False


class MatchFeed:
    """The events of a match, and the messages to its seats in `outbox`, in order."""

    def __init__(
        self,
        match_id: str,
        seats: int,
        clocks: Clocks,
        commitment: bytes,
        nonces: tuple[bytes, ...],
        state: State,
        events: Iterable[Event | SeatForfeited],
        *,
        mirrored: bool = False,
    ) -> None:
        """`events` are those of the set-up; the state will change in place."""
        self.match_id = match_id
        self.clocks = clocks
        self.commitment = commitment
        self.nonces = nonces
        self.mirrored = mirrored
        self.events: list[Event | SeatForfeited] = list(events)
        #: The same, as they are sent.
        self.event_parts = list(map(event_bytes, self.events))
        #: Numbers of events at which a turn was over: up to there everybody may be told.
        self.turns = [len(self.events)]
        self.outbox: list[tuple[int, bytes]] = []
        self._view = RunningView(state)
        self._writer = ViewWriter()
        self._ears = [_Ear() for _ in range(seats)]
        #: Whether the turn that runs has dispatched its buyers, which is what it begins with.
        self._dispatched = False
        #: Whether any seat has to be told of turns as they end.
        self.live = False

    @property
    def at_rest(self) -> bool:
        """Whether the table looks as it did when the last turn was over."""
        return not self._dispatched

    def present(self, seat: int) -> bool:
        """Whether the seat's bot has a stream."""
        return self._ears[seat].presence is not None

    # What happened

    def happened(self, events: Sequence[Event], state: State) -> None:
        """Events that led to this state; several turns, where the rules forced some of them."""
        self._view.changed(events)
        told = self.events
        parts = self.event_parts
        for event in events:
            if type(event) is BuyersDispatched:
                if self._dispatched:
                    self.turns.append(len(told))
                self._dispatched = True
            told.append(event)
            parts.append(event_bytes(event))
        if self._dispatched:
            kind = state.kind
            if kind is _SPACE or kind is _BUYERS or state.seat < 0:
                self.turns.append(len(told))
                self._dispatched = False

    def forfeited(self, event: SeatForfeited) -> None:
        """A seat forfeited. The others hear of it when the turn is over."""
        self.events.append(event)
        self.event_parts.append(event_bytes(event))
        ear = self._ears[event.seat]
        ear.owed_forfeit = ear.presence is not None
        self._count_ears()

    def left(self, seat: int) -> None:
        """The seat's bot has lost its stream."""
        ear = self._ears[seat]
        ear.presence = None
        ear.owed_table = ear.owed_forfeit = False
        self._count_ears()

    def came_back(self, seat: int, presence: Presence) -> None:
        """The seat's bot has a new stream."""
        ear = self._ears[seat]
        ear.presence = presence
        ear.owed_table = True
        self._count_ears()

    @property
    def digests(self) -> tuple[bytes, ...]:
        """By seat, the digest of all that was sent to it."""
        return tuple(ear.digest for ear in self._ears)

    def _send(self, seat: int, message: bytes) -> None:
        ear = self._ears[seat]
        ear.digest = sha256(ear.digest + message).digest()
        self.outbox.append((seat, message))

    def _count_ears(self) -> None:
        self.live = any(
            ear.presence is not None and (ear.presence.live_updates or ear.owed_forfeit)
            for ear in self._ears
        )

    # What is told

    def start(self, seat: int, presence: Presence, state: State) -> None:
        """The match begins."""
        ear = self._ears[seat]
        ear.presence = presence
        ear.sent = len(self.events)
        if self.nonces:  # it was told before there was a match
            asked = deal_committed_bytes(
                match_id=self.match_id, seat=seat, deal_commitment=self.commitment
            )
            ear.digest = sha256(ear.digest + asked).digest()
        self._table(seat, state, resumed=False)
        self._count_ears()

    def decision(
        self, seat: int, state: State, decision_id: int, clock_us: int, charged_us: int
    ) -> None:
        """The seat is asked, or asked again after a break. All that happened is its own turn."""
        ear = self._ears[seat]
        presence = ear.presence
        if presence is None:
            return
        if ear.owed_table:
            self._table_again(seat, ear, state)
        sequence = len(self.events)
        message = decision_bytes(
            match_id=self.match_id,
            decision_id=decision_id,
            view=self._view.deciding(),
            events=self.event_parts[ear.sent :],
            sequence=sequence,
            clock_us=clock_us,
            charged_us=charged_us,
            include_public=not presence.omit_public_view,
            writer=self._writer,
        )
        ear.sent = sequence
        self._send(seat, message)

    def rejection(
        self,
        seat: int,
        decision_id: int,
        reason: RejectionReason,
        detail: str,
        legal: Sequence[Action],
        clock_us: int,
        forgiven: int,
    ) -> None:
        """A reply of the seat was not accepted."""
        if self._ears[seat].presence is None:
            return
        message = rejection_bytes(
            match_id=self.match_id,
            decision_id=decision_id,
            reason=reason,
            detail=detail,
            legal=legal,
            clock_us=clock_us,
            forgiven=forgiven,
        )
        self._send(seat, message)

    def turns_over(self) -> None:
        """Tell every turn that is over to the seats that want it; only needed while `live`."""
        turns = self.turns
        for seat, ear in enumerate(self._ears):
            presence = ear.presence
            if presence is None or ear.owed_table:
                continue
            if not (presence.live_updates or ear.owed_forfeit):
                continue
            first = len(turns)
            while first and turns[first - 1] > ear.sent:
                first -= 1
            for end in turns[first:]:
                self._update(seat, ear.sent, end)
                ear.sent = end
                ear.owed_forfeit = False
        self._count_ears()

    def ended(self, state: State, results: Sequence[SeatResult], secret: bytes) -> None:
        """The match is over. The secret is empty where nobody may be told it."""
        sequence = len(self.events)
        for seat, ear in enumerate(self._ears):
            if ear.presence is None:
                continue
            if ear.owed_table:
                self._table_again(seat, ear, state)
            message = match_ended_bytes(
                match_id=self.match_id,
                events=self.event_parts[ear.sent :],
                sequence=sequence,
                results=results,
                deal_secret=secret,
            )
            ear.sent = sequence
            self._send(seat, message)

    def void(self) -> None:
        """The match is over without a result, in whatever state it is."""
        self.outbox.clear()
        for seat, ear in enumerate(self._ears):
            if ear.presence is not None:
                message = match_ended_bytes(
                    match_id=self.match_id,
                    events=(),
                    sequence=ear.sent,
                    results=(),
                    deal_secret=b"",
                    void=True,
                )
                self._send(seat, message)

    def _table_again(self, seat: int, ear: _Ear, state: State) -> None:
        """The whole view, behind the events that the bot missed if it says which."""
        assert ear.presence is not None
        sequence = len(self.events)
        last = ear.presence.last_sequence
        if last is not None and 0 <= last < sequence:
            self._update(seat, last, sequence)
        ear.sent = sequence
        ear.owed_table = False
        self._table(seat, state, resumed=True)

    def _table(self, seat: int, state: State, *, resumed: bool) -> None:
        message = match_started_bytes(
            match_id=self.match_id,
            view=view(state, seat),
            clocks=self.clocks,
            deal_commitment=self.commitment,
            nonces=self.nonces,
            sequence=len(self.events),
            resumed=resumed,
            mirrored=self.mirrored,
        )
        self._send(seat, message)

    def _update(self, seat: int, start: int, end: int) -> None:
        events = self.event_parts[start:end]
        message = update_bytes(match_id=self.match_id, events=events, sequence=end)
        self._send(seat, message)
