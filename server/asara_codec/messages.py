"""The referee's messages as bytes.

Decisions and updates are the hot path of the referee: everything that recurs in them (actions,
events, markets, towers, areas) comes out of a cache as bytes, and only numbers and the joints are
written anew. The bytes are those that protobuf itself would write. The rare messages are built the
usual way.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from asara.v1 import play_pb2
from asara.v1.play_pb2 import Decision as DecisionMessage
from asara.v1.play_pb2 import MatchStarted, PlayResponse, Update
from asara.v1.view_pb2 import PublicView as PublicViewMessage
from asara.v1.watch_pb2 import MatchSummary, WatchEnded, WatchResponse, WatchStarted
from asara_codec.clocks import Clocks
from asara_codec.editions import edition_message, rule_set_numbers
from asara_codec.encode import (
    action_bytes,
    action_message,
    clocks_message,
    enum_value,
    gift_bytes,
    result_message,
    serialize,
    space_bytes,
)
from asara_codec.results import RejectionReason, SeatResult
from asara_codec.view_writer import ViewWriter, public_bytes
from asara_codec.wire_format import Integer, Nested, Repeated, delimited, tag
from asara_game.actions import Action
from asara_game.rules import Rules
from asara_game.view import PublicView, View

#: Events as `event_bytes` makes them: a seat is told what another one was told before.
_Events = Iterable[bytes]

_play_decision: Final = Nested(PlayResponse, "decision")
_match_id: Final = Nested(DecisionMessage, "match_id")
_decision_id: Final = Integer(DecisionMessage, "decision_id")
_kind: Final = Integer(DecisionMessage, "kind")
_legal_actions: Final = Repeated(DecisionMessage, "legal_actions")
_SPACE: Final = tag(DecisionMessage, "space")
_sections_to_build: Final = Integer(DecisionMessage, "sections_to_build")
_clock_us: Final = Integer(DecisionMessage, "clock_us")
_charged_us: Final = Integer(DecisionMessage, "charged_us")
_events: Final = Repeated(DecisionMessage, "events")
_sequence: Final = Integer(DecisionMessage, "sequence")
_view: Final = Nested(DecisionMessage, "view")
_build_steps: Final = Repeated(DecisionMessage, "build_steps")
_gifts: Final = Repeated(DecisionMessage, "gifts")
_lit_windows_to_keep: Final = Integer(DecisionMessage, "lit_windows_to_keep")


@lru_cache(maxsize=4096)
def _match_id_field(match_id: str) -> bytes:
    return _match_id.of(match_id.encode())


def decision_bytes(
    *,
    match_id: str,
    decision_id: int,
    view: View,
    events: _Events,
    sequence: int,
    clock_us: int,
    charged_us: int,
    include_public: bool = True,
    writer: ViewWriter | None = None,
) -> bytes:
    """PlayResponse{decision}; `view` is that of the seat that decides.

    Without `include_public` the view holds the private part alone (Hello.omit_public_view). The
    `writer` is that of the match; it makes decisions that follow one another cheaper.
    """
    if view.decision is None or view.decision.seat != view.private.seat:
        raise ValueError(f"match {match_id}: seat {view.private.seat} has nothing to decide")
    _, kind, space, to_build, steps, gifts, to_keep = view.decision
    return _play_decision.of(
        b"".join(
            (
                _match_id_field(match_id),
                _decision_id.of(decision_id),
                _kind.of(kind),
                _legal_actions.of(map(action_bytes, view.legal)),
                _SPACE + space_bytes(space) if space else b"",
                _sections_to_build.of(to_build) if to_build else b"",
                _clock_us.of(clock_us),
                _charged_us.of(charged_us),
                _events.of(events),
                _sequence.of(sequence),
                _view.of((writer or ViewWriter()).view(view, include_public)),
                _build_steps.of(map(action_bytes, steps)) if steps else b"",
                _gifts.of(map(gift_bytes, gifts)) if gifts else b"",
                _lit_windows_to_keep.of(to_keep) if to_keep else b"",
            )
        )
    )


_play_update: Final = Nested(PlayResponse, "update")
_watch_update: Final = Nested(WatchResponse, "update")
_update_match_id: Final = Nested(Update, "match_id")
_update_events: Final = Repeated(Update, "events")
_update_sequence: Final = Integer(Update, "sequence")


def _update(match_id: str, events: _Events, sequence: int) -> bytes:
    return (
        _update_match_id.of(match_id.encode())
        + _update_events.of(events)
        + _update_sequence.of(sequence)
    )


def update_bytes(*, match_id: str, events: _Events, sequence: int) -> bytes:
    """PlayResponse{update}: events up to the one of this sequence number."""
    return _play_update.of(_update(match_id, events, sequence))


def deal_committed_bytes(*, match_id: str, seat: int, deal_commitment: bytes) -> bytes:
    """PlayResponse{deal_committed}: asks for the seat's nonce."""
    committed = play_pb2.DealCommitted(
        match_id=match_id, seat=seat, deal_commitment=deal_commitment
    )
    return serialize(PlayResponse(deal_committed=committed))


def match_started_bytes(
    *,
    match_id: str,
    view: View,
    clocks: Clocks,
    deal_commitment: bytes,
    nonces: Sequence[bytes] = (),
    sequence: int,
    resumed: bool = False,
    mirrored: bool = False,
) -> bytes:
    """PlayResponse{match_started}, with seat, rules and edition taken from the view."""
    return _play_match_started.of(
        b"".join(
            (
                _started_match_id.of(match_id.encode()),
                _started_seat.of(view.private.seat),
                _started_rules(view.rules),
                _started_clocks(clocks),
                _started_commitment.of(deal_commitment) if deal_commitment else b"",
                _started_view.of(ViewWriter().view(view)),
                _started_sequence.of(sequence),
                _started_resumed.of(resumed),
                *map(_started_nonces.of, nonces),
                _started_mirrored.of(mirrored),
            )
        )
    )


_play_match_started: Final = Nested(PlayResponse, "match_started")
_started_match_id: Final = Nested(MatchStarted, "match_id")
_started_seat: Final = Integer(MatchStarted, "seat")
_started_commitment: Final = Nested(MatchStarted, "deal_commitment")
_started_view: Final = Nested(MatchStarted, "view")
_started_sequence: Final = Integer(MatchStarted, "sequence")
_started_resumed: Final = Integer(MatchStarted, "resumed")
_started_nonces: Final = Nested(MatchStarted, "nonces")
_started_mirrored: Final = Integer(MatchStarted, "mirrored")


@lru_cache(maxsize=64)
def _started_rules(rules: Rules) -> bytes:
    started = MatchStarted(
        seats=rules.seats,
        rule_sets=rule_set_numbers(rules),
        edition=edition_message(rules),
        edition_sha256=rules.edition.sha256,
    )
    return serialize(started)


@lru_cache(maxsize=64)
def _started_clocks(clocks: Clocks) -> bytes:
    return serialize(MatchStarted(clocks=clocks_message(clocks)))


def rejection_bytes(
    *,
    match_id: str,
    decision_id: int,
    reason: RejectionReason,
    detail: str,
    legal: Sequence[Action],
    clock_us: int,
    forgiven: int,
) -> bytes:
    """PlayResponse{rejection}: the decision stands, and these are its actions once more."""
    rejection = play_pb2.Rejection(
        match_id=match_id,
        decision_id=decision_id,
        reason=enum_value(reason),
        detail=detail,
        legal_actions=map(action_message, legal),
        clock_us=clock_us,
        forgiven=forgiven,
    )
    return serialize(PlayResponse(rejection=rejection))


_play_match_ended: Final = Nested(PlayResponse, "match_ended")
_ended_match_id: Final = Nested(play_pb2.MatchEnded, "match_id")
_ended_events: Final = Repeated(play_pb2.MatchEnded, "events")
_ended_sequence: Final = Integer(play_pb2.MatchEnded, "sequence")


def match_ended_bytes(
    *,
    match_id: str,
    events: _Events,
    sequence: int,
    results: Sequence[SeatResult],
    deal_secret: bytes,
    void: bool = False,
) -> bytes:
    """PlayResponse{match_ended}; the secret of a void match is not shown."""
    return _play_match_ended.of(
        _ended_match_id.of(match_id.encode())
        + _ended_events.of(events)
        + _ended_sequence.of(sequence)
        + _ended_results.of(map(_result_bytes, results))
        + (_ended_deal_secret.of(deal_secret) if deal_secret and not void else b"")
        + _ended_void.of(void)
    )


_ended_results: Final = Repeated(play_pb2.MatchEnded, "results")
_ended_deal_secret: Final = Nested(play_pb2.MatchEnded, "deal_secret")
_ended_void: Final = Integer(play_pb2.MatchEnded, "void")


@lru_cache(maxsize=64)  # every seat is told every result
def _result_bytes(result: SeatResult) -> bytes:
    return delimited(serialize(result_message(result)))


def welcome_bytes(
    *, protocol_version: int, referee: str, entry: str, limits: play_pb2.Limits
) -> bytes:
    """PlayResponse{welcome}; `referee` is its name and version."""
    welcome = play_pb2.Welcome(
        protocol_version=protocol_version,
        referee=referee,
        entry=entry,
        limits=limits,
    )
    return serialize(PlayResponse(welcome=welcome))


def goodbye_bytes(reason: str) -> bytes:
    """PlayResponse{goodbye}."""
    return serialize(PlayResponse(goodbye=play_pb2.Goodbye(reason=reason)))


def match_summary(
    *, match_id: str, entries: Sequence[str], rules: Rules, sequence: int
) -> MatchSummary:
    """One row of ListMatchesResponse; entries by seat."""
    return MatchSummary(
        match_id=match_id,
        entries=entries,
        rule_sets=rule_set_numbers(rules),
        sequence=sequence,
    )


def watch_started_bytes(
    *,
    match_id: str,
    entries: Sequence[str],
    rules: Rules,
    sequence: int,
    public: PublicView,
    deal_commitment: bytes,
    nonces: Sequence[bytes] = (),
) -> bytes:
    """WatchResponse{started}: `public` is the table after the event of this sequence number."""
    started = WatchStarted(
        match=match_summary(match_id=match_id, entries=entries, rules=rules, sequence=sequence),
        edition=edition_message(rules),
        public_view=PublicViewMessage.FromString(public_bytes(public)),
        deal_commitment=deal_commitment,
        nonces=nonces,
    )
    return serialize(WatchResponse(started=started))


def watch_update_bytes(*, match_id: str, events: _Events, sequence: int) -> bytes:
    """WatchResponse{update}: the events of one turn."""
    return _watch_update.of(_update(match_id, events, sequence))


def watch_ended_bytes(
    *, results: Sequence[SeatResult], deal_secret: bytes, void: bool = False
) -> bytes:
    """WatchResponse{ended}; the secret of a void match is not shown."""
    ended = WatchEnded(
        results=map(result_message, results),
        deal_secret=b"" if void else deal_secret,
        void=void,
    )
    return serialize(WatchResponse(ended=ended))
