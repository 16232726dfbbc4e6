"""The referee's messages as bytes.

Decisions and updates are the hot path of the referee: everything that recurs in them (actions,
events, markets, towers, areas) comes out of a cache as bytes, and only numbers and the joints are
written anew. The bytes are those that protobuf itself would write. The rare messages are built the
usual way.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from asara.v1 import play_pb2
from asara.v1.play_pb2 import Decision as DecisionMessage
from asara.v1.play_pb2 import PlayResponse, Update
from asara.v1.view_pb2 import PublicView as PublicViewMessage
from asara.v1.view_pb2 import View as ViewMessage
from asara.v1.watch_pb2 import MatchSummary, WatchEnded, WatchResponse, WatchStarted
from asara_game.actions import Action
from asara_game.rules import Rules
from asara_game.view import PublicView, View
from asara_server.results import RejectionReason, SeatResult
from asara_server.translate.editions import edition_message, rule_set_numbers
from asara_server.translate.encode import (
    action_bytes,
    action_message,
    clocks_message,
    enum_value,
    gift_bytes,
    result_message,
    serialize,
    space_bytes,
)
from asara_server.translate.terms import Clocks, Limits
from asara_server.translate.views import ViewWriter, public_bytes
from asara_server.translate.wire import delimited, integer, nested, repeated, tag

#: Events as `event_bytes` makes them: a seat is told what another one was told before.
_Events = Iterable[bytes]

_play_decision = nested(PlayResponse, "decision")
_match_id = nested(DecisionMessage, "match_id")
_decision_id = integer(DecisionMessage, "decision_id")
_kind = integer(DecisionMessage, "kind")
_legal_actions = repeated(DecisionMessage, "legal_actions")
_SPACE = tag(DecisionMessage, "space")
_sections_to_build = integer(DecisionMessage, "sections_to_build")
_clock_us = integer(DecisionMessage, "clock_us")
_charged_us = integer(DecisionMessage, "charged_us")
_events = repeated(DecisionMessage, "events")
_sequence = integer(DecisionMessage, "sequence")
_view = nested(DecisionMessage, "view")
_build_steps = repeated(DecisionMessage, "build_steps")
_gifts = repeated(DecisionMessage, "gifts")
_lit_windows_to_keep = integer(DecisionMessage, "lit_windows_to_keep")


@lru_cache(maxsize=4096)
def _match_id_field(match_id: str) -> bytes:
    return _match_id(match_id.encode())


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
    return _play_decision(
        b"".join(
            (
                _match_id_field(match_id),
                _decision_id(decision_id),
                _kind(kind),
                _legal_actions(map(action_bytes, view.legal)),
                _SPACE + space_bytes(space) if space else b"",
                _sections_to_build(to_build) if to_build else b"",
                _clock_us(clock_us),
                _charged_us(charged_us),
                _events(events),
                _sequence(sequence),
                _view((writer or ViewWriter()).view(view, include_public)),
                _build_steps(map(action_bytes, steps)) if steps else b"",
                _gifts(map(gift_bytes, gifts)) if gifts else b"",
                _lit_windows_to_keep(to_keep) if to_keep else b"",
            )
        )
    )


_play_update = nested(PlayResponse, "update")
_watch_update = nested(WatchResponse, "update")
_update_match_id = nested(Update, "match_id")
_update_events = repeated(Update, "events")
_update_sequence = integer(Update, "sequence")


def _update(match_id: str, events: _Events, sequence: int) -> bytes:
    return _update_match_id(match_id.encode()) + _update_events(events) + _update_sequence(sequence)


def update_bytes(*, match_id: str, events: _Events, sequence: int) -> bytes:
    """PlayResponse{update}: events up to the one of this sequence number."""
    return _play_update(_update(match_id, events, sequence))


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
) -> bytes:
    """PlayResponse{match_started}, with seat, rules and edition taken from the view."""
    rules = view.rules
    started = play_pb2.MatchStarted(
        match_id=match_id,
        seat=view.private.seat,
        seats=rules.seats,
        rule_sets=rule_set_numbers(rules),
        edition=edition_message(rules),
        edition_sha256=rules.edition.sha256,
        clocks=clocks_message(clocks),
        deal_commitment=deal_commitment,
        view=ViewMessage.FromString(ViewWriter().view(view)),
        sequence=sequence,
        resumed=resumed,
        nonces=nonces,
    )
    return serialize(PlayResponse(match_started=started))


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


_play_match_ended = nested(PlayResponse, "match_ended")
_ended_match_id = nested(play_pb2.MatchEnded, "match_id")
_ended_events = repeated(play_pb2.MatchEnded, "events")
_ended_sequence = integer(play_pb2.MatchEnded, "sequence")


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
    return _play_match_ended(
        _ended_match_id(match_id.encode())
        + _ended_events(events)
        + _ended_sequence(sequence)
        + _ended_results(map(_result_bytes, results))
        + (_ended_deal_secret(deal_secret) if deal_secret and not void else b"")
        + _ended_void(void)
    )


_play_match_ended = nested(PlayResponse, "match_ended")
_ended_match_id = nested(play_pb2.MatchEnded, "match_id")
_ended_events = repeated(play_pb2.MatchEnded, "events")
_ended_sequence = integer(play_pb2.MatchEnded, "sequence")
_ended_results = repeated(play_pb2.MatchEnded, "results")
_ended_deal_secret = nested(play_pb2.MatchEnded, "deal_secret")
_ended_void = integer(play_pb2.MatchEnded, "void")


@lru_cache(maxsize=64)  # every seat is told every result
def _result_bytes(result: SeatResult) -> bytes:
    return delimited(serialize(result_message(result)))


def welcome_bytes(*, protocol_version: int, referee: str, entry: str, limits: Limits) -> bytes:
    """PlayResponse{welcome}; `referee` is its name and version."""
    welcome = play_pb2.Welcome(
        protocol_version=protocol_version,
        referee=referee,
        entry=entry,
        limits=play_pb2.Limits(**limits._asdict()),
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
    return _watch_update(_update(match_id, events, sequence))


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
