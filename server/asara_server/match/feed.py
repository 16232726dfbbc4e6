"""All messages that the seats of a match receive, and when they are sent.

The messages to a seat depend on the events and on its own secrets, never on what other seats hide,
which `asara_game.view` leaves out:

- Events of another seat's turn are sent when that turn is over, one turn at a time. Whether a seat
  had to decide within its turn, or its action was forced, depends on its secrets.
- A forfeit is sent after all events of the turn in which it happened, even to the forfeiting seat.
  Its place among these events would show how far that turn had come.
- Watchers always see the table as it was when the last turn ended.
- A bot that reconnects while its seat has no open decision receives the view with its next
  decision, for the same reason.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

from asara_codec.encode import event_bytes
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
from asara_game.view import PublicView, RunningView
from asara_game.vocabulary import DecisionKind
from asara_server.match.inputs import Presence
from asara_server.match.spec import MatchSpec

# When a seat gets one of these decisions, nothing of its turn has happened yet.
_SPACE: Final = DecisionKind.SPACE
_BUYERS: Final = DecisionKind.BUYERS

_SHA256: Final = sha256()
"""Copied for every message, because `sha256(...)` makes OpenSSL look the algorithm up, which takes
longer than the digest itself."""


class _SeatFeed:
    """What has been sent to one seat, and what is due.

    - `digest`: running SHA-256 of all messages: the hash of the previous digest and the message
    - `presence`: the stream of the seat's bot; None while the bot has no stream
    - `sent`: number of events that the seat knows, from messages or from a view
    - `view_due`: the bot reconnected, and receives the view before anything else
    - `forfeit_due`: the seat's forfeit is among the events, and its bot receives an update with it
    """

    __slots__ = ("digest", "forfeit_due", "presence", "sent", "view_due")

    def __init__(self) -> None:
        self.digest = bytes(32)
        self.presence: Presence | None = None
        self.sent = 0
        self.view_due = False
        self.forfeit_due = False


class MatchFeed:
    """The events of a match, and the messages to its seats, in order, in `outbox`.

    - `events`: all events, starting with the set-up
    - `event_parts`: the same events, encoded for messages
    - `turn_ends`: numbers of events after which no turn was running, in rising order
    - `public`: the public view at the last of `turn_ends`
    - `live`: True if some seat receives turns as they end
    """

    def __init__(self, spec: MatchSpec, state: State, events: Iterable[Event]) -> None:
        """Start with the set-up's events; `state` is the match's state and changes in place."""
        self.spec = spec
        self.match_id = spec.match_id
        self.events: list[Event | SeatForfeited] = list(events)
        self.event_parts = list(map(event_bytes, self.events))
        self.turn_ends = [len(self.events)]
        self.outbox: list[tuple[int, bytes]] = []
        self.live = False
        self._view = RunningView(state)
        self.public: PublicView = self._view.public()
        self._writer = ViewWriter()
        self._seats = [_SeatFeed() for _ in spec.players]
        self._turn_running = False
        self._forfeits: list[SeatForfeited] = []  # since the last turn ended

    @property
    def digests(self) -> tuple[bytes, ...]:
        """By seat, the digest of all messages sent to the seat."""
        return tuple(own.digest for own in self._seats)

    def present(self, seat: int) -> bool:
        """Return True if the seat's bot has a stream."""
        return self._seats[seat].presence is not None

    # Events

    def add_events(self, events: Sequence[Event], state: State) -> None:
        """Add the events that led to this state; forced decisions may spread them over turns."""
        known = self.events
        parts = self.event_parts
        for event in events:
            if type(event) is BuyersDispatched:  # a turn begins with it
                if self._turn_running:
                    self._end_turn()
                self._turn_running = True
            known.append(event)
            parts.append(event_bytes(event))
        if self._turn_running:
            kind = state.kind
            if kind is _SPACE or kind is _BUYERS or state.seat < 0:
                self._end_turn()
                self._turn_running = False
                self.public = self._view.public()

    def _end_turn(self) -> None:
        if self._forfeits:
            self.add_forfeits()
        else:
            self.turn_ends.append(len(self.events))

    def hold_forfeit(self, event: SeatForfeited) -> None:
        """Hold a forfeit until the current turn ends, even if that turn has no events yet."""
        self._forfeits.append(event)

    def add_forfeits(self) -> None:
        """Add the held forfeits; called at the end of the set-up, of a turn or of the match."""
        if not self._forfeits:
            return
        for event in self._forfeits:
            self.events.append(event)
            self.event_parts.append(event_bytes(event))
            own = self._seats[event.seat]
            own.forfeit_due = own.presence is not None
        self._forfeits.clear()
        self.turn_ends.append(len(self.events))
        self._update_live()

    def close(self) -> None:
        """Add the held forfeits and end the current turn, because the match is over."""
        self.add_forfeits()
        if self.turn_ends[-1] < len(self.events):
            self.turn_ends.append(len(self.events))

    # Streams

    def disconnect(self, seat: int) -> None:
        """Stop sending to a seat whose bot has lost its stream."""
        own = self._seats[seat]
        own.presence = None
        own.view_due = own.forfeit_due = False
        self._update_live()

    def reconnect(self, seat: int, presence: Presence) -> None:
        """From now on, send messages to this new stream of the seat's bot."""
        own = self._seats[seat]
        own.presence = presence
        own.view_due = True
        self._update_live()

    def _update_live(self) -> None:
        self.live = any(
            own.presence is not None and (own.presence.live_updates or own.forfeit_due)
            for own in self._seats
        )

    # Messages

    def send_start(self, seat: int, presence: Presence) -> None:
        """Send MatchStarted to a seat whose bot is present from the start."""
        own = self._seats[seat]
        own.presence = presence
        own.sent = len(self.events)
        if self.spec.nonces:  # the bot was sent DealCommitted before this object existed
            asked = deal_committed_bytes(
                match_id=self.match_id, seat=seat, deal_commitment=self.spec.commitment
            )
            own.digest = sha256(own.digest + asked).digest()
        self._send_view(seat, resumed=False)
        self._update_live()

    def send_decision(self, seat: int, decision_id: int, clock_us: int, charged_us: int) -> None:
        """Send the seat its decision, possibly again after a reconnection.

        The message may carry every event: all events since the last turn ended belong to this
        seat's own turn.
        """
        own = self._seats[seat]
        presence = own.presence
        if presence is None:
            return
        if own.view_due:
            self._send_view_again(seat, own)
        sequence = len(self.events)
        message = decision_bytes(
            match_id=self.match_id,
            decision_id=decision_id,
            view=self._view.deciding(None if self._turn_running else self.public, sequence),
            events=self.event_parts[own.sent :],
            sequence=sequence,
            clock_us=clock_us,
            charged_us=charged_us,
            include_public=not presence.omit_public_view,
            writer=self._writer,
        )
        own.sent = sequence
        self._send(seat, message)

    def send_rejection(
        self,
        seat: int,
        decision_id: int,
        reason: RejectionReason,
        detail: str,
        legal: Sequence[Action],
        clock_us: int,
        forgiven: int,
    ) -> None:
        """Tell a seat why its reply was not accepted."""
        if self._seats[seat].presence is None:
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

    def send_turns(self) -> None:
        """Send all finished turns to the seats that want them; needed only while `live`."""
        ends = self.turn_ends
        for seat, own in enumerate(self._seats):
            presence = own.presence
            if presence is None or own.view_due:
                continue
            if not (presence.live_updates or own.forfeit_due):
                continue
            first = len(ends)
            while first and ends[first - 1] > own.sent:
                first -= 1
            for end in ends[first:]:
                self._send_update(seat, own.sent, end)
                own.sent = end
                own.forfeit_due = False
        self._update_live()

    def send_end(self, results: Sequence[SeatResult], secret: bytes) -> None:
        """Send the results to all seats; `secret` is empty if it must not be disclosed."""
        sequence = len(self.events)
        for seat, own in enumerate(self._seats):
            if own.presence is None:
                continue
            if own.view_due:
                self._send_view_again(seat, own)
            message = match_ended_bytes(
                match_id=self.match_id,
                events=self.event_parts[own.sent :],
                sequence=sequence,
                results=results,
                deal_secret=secret,
            )
            own.sent = sequence
            self._send(seat, message)

    def send_void(self) -> None:
        """Tell all seats that the match is void, and drop everything else in the outbox."""
        self.outbox.clear()
        for seat, own in enumerate(self._seats):
            if own.presence is not None:
                message = match_ended_bytes(
                    match_id=self.match_id,
                    events=(),
                    sequence=own.sent,
                    results=(),
                    deal_secret=b"",
                    void=True,
                )
                self._send(seat, message)

    def _send_view_again(self, seat: int, own: _SeatFeed) -> None:
        """Send the view to a bot that reconnected.

        If the bot reported its last event, it receives the missed events first.
        """
        assert own.presence is not None
        sequence = len(self.events)
        last = own.presence.last_sequence
        if last is not None and 0 <= last < sequence:
            self._send_update(seat, last, sequence)
        own.sent = sequence
        own.view_due = False
        self._send_view(seat, resumed=True)

    def _send_view(self, seat: int, *, resumed: bool) -> None:
        message = match_started_bytes(
            match_id=self.match_id,
            view=self._view.of(seat),
            writer=self._writer,
            clocks=self.spec.clocks,
            deal_commitment=self.spec.commitment,
            nonces=self.spec.nonces,
            sequence=len(self.events),
            resumed=resumed,
            shared_deal=bool(self.spec.shared_deal),
        )
        self._send(seat, message)

    def _send_update(self, seat: int, start: int, end: int) -> None:
        events = self.event_parts[start:end]
        message = update_bytes(match_id=self.match_id, events=events, sequence=end)
        self._send(seat, message)

    def _send(self, seat: int, message: bytes) -> None:
        own = self._seats[seat]
        digest = _SHA256.copy()
        digest.update(b"%b%b" % (own.digest, message))
        own.digest = digest.digest()
        self.outbox.append((seat, message))
