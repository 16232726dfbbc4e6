"""Everything that leaves the referee during a match, field by field.

The other leak tests find a field that depends on what is hidden. This one makes somebody allow a
new field: who adds one to a message extends this table, and says by that who may know it.
"""

from typing import Any

import pytest

from asara.v1 import play_pb2, view_pb2, watch_pb2

TO_A_SEAT: dict[Any, str] = {
    play_pb2.MatchStarted: (
        "match_id seat seats rule_sets edition edition_sha256 clocks deal_commitment view sequence "
        "resumed nonces shared_deal"
    ),
    play_pb2.DealCommitted: "match_id seat deal_commitment",
    play_pb2.Update: "match_id events sequence",
    play_pb2.Decision: (
        "match_id decision_id kind legal_actions space sections_to_build clock_us charged_us "
        "events sequence view build_steps gifts lit_windows_to_keep"
    ),
    play_pb2.Rejection: "match_id decision_id reason detail legal_actions clock_us forgiven",
    play_pb2.MatchEnded: "match_id events sequence results deal_secret void",
    view_pb2.PrivateView: (
        "seat asari hand sections lit_windows face_down known_lit_windows searched_sections "
        "searched_buyers searched_lit_windows"
    ),
}
TO_EVERYBODY: dict[Any, str] = {
    watch_pb2.MatchSummary: "match_id entries rule_sets sequence",
    watch_pb2.WatchResponse: "started update ended",
    watch_pb2.WatchStarted: "match edition public_view deal_commitment nonces",
    watch_pb2.WatchEnded: "results deal_secret void",
    view_pb2.PublicView: (
        "year turn_seat patronage_seat buyer_pile_size lit_window_stack_size gift_deck_size "
        "markets areas chests seats"
    ),
    view_pb2.SeatView: "seat prestige hand_size lit_windows towers",
}


@pytest.mark.parametrize("message", [*TO_A_SEAT, *TO_EVERYBODY], ids=lambda m: m.DESCRIPTOR.name)
def test_a_message_has_the_fields_that_somebody_has_allowed(message: Any) -> None:
    allowed = (TO_A_SEAT | TO_EVERYBODY)[message]
    assert sorted(field.name for field in message.DESCRIPTOR.fields) == sorted(allowed.split())
