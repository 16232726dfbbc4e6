"""A replay that differs from what the referee wrote is refused, whoever changed it."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count, cycle
from types import SimpleNamespace

import pytest

from asara_codec.wire_format import delimited
from asara_game.rules import RULE_COMBINATIONS
from asara_game.state import State
from asara_game.vocabulary import DecisionKind
from asara_server.journal.replay import Replay
from asara_server.match.deal_secrets import secret_of
from asara_server.match.inputs import LateReplyRecord, RejectionRecord, ReplyRecord
from asara_server.replay.audit import Verdict, audit
from asara_server.replay.file import parse_file
from asara_server.replay.signing import SigningKey
from tests.match.playouts import EVERYTHING, WIDE_CASES, random_replay, replay_bytes, signed_bytes
from tests.sizes import others_long

KEY = SigningKey.new()
OTHER = SigningKey.new()
SHORT = random_replay(RULE_COMBINATIONS[0], 2, seed=4, replies=14)
"""A match as short as it can be with several types of records."""
SHORT_DATA = replay_bytes(SHORT, KEY)
WHOLE = random_replay(EVERYTHING, 3, seed=7)


def fault(data: bytes) -> str:
    """The fault that the audit finds in a file."""
    found = audit(data, KEY.public).fault
    assert found, "the audit found nothing"
    return found


def signed(replay: Replay) -> str:
    """The fault that it finds in this replay, signed by the referee's own key."""
    return fault(replay_bytes(replay, KEY))


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_what_the_referee_wrote_is_sound(rule_sets, seats) -> None:
    data = replay_bytes(random_replay(rule_sets, seats, seed=11), KEY)
    verdict = audit(data, KEY.public)
    assert verdict.fault is None
    assert verdict.public_key == audit(data).public_key == KEY.public


@pytest.mark.parametrize("first", others_long(range(8), 8))
def test_no_byte_can_be_changed(first: int) -> None:
    dice = random.Random(first)
    signature = len(delimited(parse_file(SHORT_DATA).records[-1]))
    for at in range(first, len(SHORT_DATA), 8):
        flip = dice.randrange(1, 256)
        changed = SHORT_DATA[:at] + bytes([SHORT_DATA[at] ^ flip]) + SHORT_DATA[at + 1 :]
        fault(changed)
        if at >= len(SHORT_DATA) - signature:  # even if no key is known
            assert audit(changed).fault, at


def test_no_file_is_sound_that_was_cut() -> None:
    for size in range(len(SHORT_DATA)):
        fault(SHORT_DATA[:size])
    fault(SHORT_DATA + b"\0")


FRAMES = list(map(delimited, parse_file(SHORT_DATA).records))


def refused(frames: Sequence[bytes]) -> None:
    """Check that records in this order are refused, with the old signature and a new one."""
    fault(SHORT_DATA[:8] + b"".join(frames))
    bodies = parse_file(SHORT_DATA).records[:-1]
    by_frame = dict(zip(FRAMES, bodies, strict=False))
    fault(signed_bytes([by_frame[frame] for frame in frames if frame in by_frame], KEY))


def test_no_record_can_be_dropped_repeated_or_swapped() -> None:
    for at in range(len(FRAMES) - 1):
        refused(FRAMES[:at] + FRAMES[at + 1 :])
        refused(FRAMES[: at + 1] + FRAMES[at:])
    for at in range(len(FRAMES) - 2):
        refused([*FRAMES[:at], FRAMES[at + 1], FRAMES[at], *FRAMES[at + 2 :]])
    fault(SHORT_DATA[:8] + b"".join(FRAMES[:-1]))
    fault(SHORT_DATA + FRAMES[-1])


def test_another_key_is_named() -> None:
    text = fault(replay_bytes(WHOLE, OTHER))
    assert f"expected a signature by key {KEY.public.hex()[:16]}" in text
    assert f"found one by key {OTHER.public.hex()[:16]}: another key signed this file" in text


def test_a_result_edited_with_a_recomputed_chain_has_no_signature() -> None:
    edited = replace(WHOLE, ends=tuple(end._replace(rank=1) for end in WHOLE.ends))
    old = parse_file(replay_bytes(WHOLE, KEY))
    file = replay_bytes(edited, OTHER)
    forged = file[: -len(delimited(old.records[-1]))] + delimited(old.records[-1])
    text = fault(forged)
    assert f"record {len(WHOLE.records) + 2} " in text
    assert "rank: expected" in text
    assert text.endswith("the signature does not hold either")


def changed_header(**fields) -> Replay:
    return replace(WHOLE, header=replace(WHOLE.header, **fields))


def test_another_edition_signed_by_the_same_key() -> None:
    edition = WHOLE.header.edition.replace(b"yearly_asari", b"yearly_asari ", 1)
    text = signed(changed_header(edition=edition))
    assert "was sent other bytes" in text, "the bots were told the digest of another edition"
    text = signed(changed_header(edition=edition[:-40]))
    assert text.startswith("record 1 (byte 8): ")


def test_another_secret_signed_by_the_same_key() -> None:
    assert "expected" in signed(changed_header(deal_secret=bytes(32)))


def test_other_clocks_signed_by_the_same_key() -> None:
    clocks = WHOLE.header.clocks
    assert "was sent other bytes" in signed(
        changed_header(clocks=clocks._replace(bank_us=clocks.bank_us + 1))
    )
    assert "expected a timeout of seat" in signed(
        changed_header(clocks=clocks._replace(bank_us=0, increment_us=0, grace_us=100))
    )


@pytest.mark.parametrize("field", ["rank", "prestige"])
def test_another_result_signed_by_the_same_key(field: str) -> None:
    first, second, third = WHOLE.ends
    value = getattr(second, field)
    ends = (first, second._replace(**{field: value + 1}), third)
    text = signed(replace(WHOLE, ends=ends))
    assert text.endswith(f"seat 1: {field}: expected {value}; found {value + 1}")


def changing(*_: object, **__: object) -> bytes:
    """Bytes that differ each time, as if they depended on something hidden."""
    return b"%d" % next(NUMBERS)


NUMBERS = count()


@pytest.mark.parametrize(
    ("leaking", "seat"), [("decision_bytes", 0), ("rejection_bytes", 0), ("ViewWriter", 1)]
)
def test_the_leak_check_finds_nothing_and_would_find_a_leak(
    monkeypatch: pytest.MonkeyPatch, leaking: str, seat: int
) -> None:
    data = replay_bytes(SHORT, KEY)
    assert audit(data, KEY.public, worlds=1).fault is None
    leak = changing if leaking != "ViewWriter" else lambda: SimpleNamespace(view=changing)
    monkeypatch.setattr(f"asara_server.replay.audit.{leaking}", leak)
    found = audit(data, KEY.public, worlds=1).fault
    assert found == f"record 1 (byte 8): seat {seat} is sent something that is hidden from it"
    cut = SHORT_DATA[:-1] + bytes([SHORT_DATA[-1] ^ 1])
    assert audit(cut, worlds=1).fault == audit(cut).fault is not None


def test_within_a_turn_the_seat_that_decides_is_checked_whatever_its_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = cycle([b"true", b"other", b"true"])  # one of two worlds differs

    def messages(state: State, seat: int) -> tuple[bytes, ...]:
        own = state.seat == seat == 1 and state.kind != DecisionKind.SPACE
        return (next(sent),) if own else ()

    monkeypatch.setattr("asara_server.replay.audit._messages", messages)
    found = audit(SHORT_DATA, worlds=2).fault
    assert found is not None
    assert "seat 1 is sent something" in found


SECRET = bytes(range(32))


@pytest.mark.parametrize("shared_deal", ["", "r1-basic-0001"])
def test_the_audit_tells_what_a_sound_replay_confirms(shared_deal: str) -> None:
    match_id = "r1-basic-0001-2"
    replay = random_replay(
        EVERYTHING,
        3,
        seed=7,
        match_id=match_id,
        shared_deal=shared_deal,
        secret=secret_of(SECRET, match_id, shared_deal),
    )
    data = replay_bytes(replay, KEY)
    kinds = Counter(type(record) for record in replay.records)
    ends = enumerate(replay.ends)
    forfeits = tuple((seat, end.termination) for seat, end in ends if end.termination.forfeit)
    assert forfeits
    confirmed = Verdict(
        None,
        KEY.public,
        match_id=match_id,
        replies=kinds[ReplyRecord],
        rejections=kinds[RejectionRecord],
        late_replies=kinds[LateReplyRecord],
        forfeits=forfeits,
    )
    run = SimpleNamespace(
        header_fault=lambda file: None,
        changed=lambda data: None,
        result_fault=lambda file: "no such result",
    )
    verdict = audit(data, KEY.public, tournament_secret=SECRET, expected=run)
    assert verdict == confirmed._replace(result_fault="no such result")
    assert audit(data, KEY.public) == confirmed

    other = bytes(32)
    expected = secret_of(other, match_id, shared_deal).hex()
    assert audit(data, tournament_secret=other) == Verdict(
        "record 1 (byte 8): the deal does not follow from the secret of the tournament: "
        f"expected the match's secret {expected}, found {replay.header.deal_secret.hex()}",
        KEY.public,
    )


def test_a_match_shares_the_deal_of_its_own_block_alone() -> None:
    data = replay_bytes(changed_header(shared_deal="r1-basic-0001"), KEY)
    assert audit(data, tournament_secret=SECRET).fault == (
        "record 1 (byte 8): expected a match that shares the deal r1-basic-0001; found random-7"
    )
