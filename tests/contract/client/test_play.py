"""A bot against a scripted referee, over a real stream."""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Iterator, Sequence

import grpc
import pytest

import asara
from asara.protocol_client import ProtocolClient, forgiveness
from asara.v1.play_pb2 import PlayResponse
from tests.contract.client import scripted
from tests.contract.client.scripted import LEGAL, ScriptedReferee, Stream
from tests.events import EVENT_S


def settings(referee: ScriptedReferee, **options: object) -> asara.Settings:
    return asara.Settings(address=referee.address, token="secret", **options)  # type: ignore[arg-type]


def take_first(decision: asara.Decision, _match: asara.Match) -> asara.Action:
    return decision.legal_actions[0]


class Recorder(asara.Bot):
    """Records its calls; `recorded` has one list per instance."""

    recorded: list[list[object]]

    def __init__(self) -> None:
        self.calls: list[object] = []
        self.recorded.append(self.calls)

    def started(self) -> None:
        self.calls.append(("started", self.match.match_id, self.match.seat))

    def updated(self, events: Sequence[asara.Event]) -> None:
        self.calls.append([event.asari for event in events])

    def decide(self, decision: asara.Decision) -> asara.Answer:
        self.calls.append(decision.decision_id)
        return decision.legal_actions[0]

    def ended(self, result: asara.MatchEnded) -> None:
        self.calls.append(("ended", [seat.rank for seat in result.results]))


@pytest.fixture
def recorder() -> type[Recorder]:
    return type("FreshRecorder", (Recorder,), {"recorded": []})


def test_full_exchange(referee: ScriptedReferee, recorder: type[Recorder]) -> None:
    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started(sequence=3)
        yield scripted.decision(1, events=scripted.new_events(4, 5), sequence=5)
        first = stream.reply()
        assert (first.match_id, first.decision_id, list(first.actions)) == ("m1", 1, LEGAL[:1])
        yield scripted.update(6, sequence=6)
        yield scripted.ended(events=scripted.new_events(7), sequence=7)
        yield scripted.goodbye()

    referee.scripts.append(script)
    asara.play(
        recorder,
        settings(
            referee, bot_name="ü" * 40, max_matches=3, live_updates=True, omit_public_view=True
        ),
    )

    assert recorder.recorded == [[("started", "m1", 0), [4, 5], 1, [6], [7], ("ended", [1, 2])]]
    (hello,) = referee.hellos
    assert (hello.protocol_version, hello.token, hello.bot_name) == (1, "secret", "ü" * 32)
    assert hello.language.startswith("Python 3")
    assert (hello.max_matches, hello.live_updates, hello.omit_public_view) == (3, True, True)
    assert not hello.last_events


def test_the_match_holds_seat_rules_edition_clocks_and_entry(referee: ScriptedReferee) -> None:
    seen: list[asara.Match] = []

    def decide(decision: asara.Decision, match: asara.Match) -> asara.Action:
        seen.append(match)
        return decision.legal_actions[0]

    referee.scripts.append(scripted.one_match)
    asara.play(decide, settings(referee))

    match = seen[0]
    assert all(other is match for other in seen)
    assert (match.match_id, match.seat, match.seats, match.entry) == ("m1", 0, 2, "tested")
    assert match.rule_sets == {asara.RuleSet.RULE_SET_BASIC, asara.RuleSet.RULE_SET_GIFTS}
    assert match.edition.years == 4
    assert match.clocks.bank_us == 60_000_000
    assert match.limits.actions_per_reply == 32


def test_several_actions_are_sent_in_order(referee: ScriptedReferee) -> None:
    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started()
        yield scripted.decision()
        assert list(stream.reply().actions) == [LEGAL[2], LEGAL[0]]
        yield scripted.goodbye()

    referee.scripts.append(script)
    asara.play(lambda decision, match: [LEGAL[2], LEGAL[0]], settings(referee))


def test_after_a_break_the_bot_reconnects_and_notices_nothing(
    referee: ScriptedReferee, recorder: type[Recorder], caplog: pytest.LogCaptureFixture
) -> None:
    def before(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started("over")
        yield scripted.ended("over")
        yield scripted.started(sequence=1)
        yield scripted.decision(1, events=scripted.new_events(2, 3), sequence=3)
        stream.reply()
        stream.refuse(grpc.StatusCode.UNAVAILABLE, "", "cable pulled")

    def after(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started(sequence=5, resumed=True)
        yield scripted.update(3, 4, 5, sequence=5)
        yield scripted.decision(1, events=scripted.new_events(4, 5), sequence=5)
        assert stream.reply().decision_id == 1
        yield scripted.decision(2, events=scripted.new_events(6), sequence=6)
        assert stream.reply().decision_id == 2
        yield scripted.goodbye()

    referee.scripts += [before, after]
    asara.play(recorder, settings(referee))

    assert recorder.recorded[1] == [("started", "m1", 0), [2, 3], 1, [4, 5], [6], 2]
    assert not referee.hellos[0].last_events
    (last,) = referee.hellos[1].last_events
    assert (last.match_id, last.sequence) == ("m1", 3)
    assert "cable pulled" in caplog.text


def test_the_match_holds_each_event_once_if_some_are_sent_again(referee: ScriptedReferee) -> None:
    held: list[list[int]] = []

    def decide(decision: asara.Decision, match: asara.Match) -> asara.Action:
        held.append([event.asari for event in match.events])
        return decision.legal_actions[0]

    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started(sequence=1)
        yield scripted.decision(1, events=scripted.new_events(2, 3), sequence=3)
        stream.reply()
        yield scripted.update(3, 4, sequence=4)
        yield scripted.decision(2, events=scripted.new_events(3, 4, 5), sequence=5)
        stream.reply()
        yield scripted.goodbye()

    referee.scripts.append(script)
    asara.play(decide, settings(referee))
    assert held == [[2, 3], [2, 3, 4, 5]]


def test_no_call_is_left_for_the_end_of_the_interpreter(referee: ScriptedReferee) -> None:
    """Its destructor takes a lock, which hangs once the other threads have been stopped."""

    def breaking(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        stream.refuse(grpc.StatusCode.UNAVAILABLE, "stopping", "again")

    referee.scripts += [breaking, scripted.one_match]
    gc.collect()
    gc.disable()
    try:
        asara.play(
            lambda decision, match: decision.legal_actions[0],
            asara.Settings(address=referee.address, token="secret"),
        )
        left = [type(each) for each in gc.get_objects() if issubclass(type(each), grpc.Call)]
    finally:
        gc.enable()
    assert left == []


def test_a_message_that_cannot_be_read_is_an_error_in_one_line() -> None:
    client = ProtocolClient(Recorder, asara.Settings())
    with pytest.raises(asara.AsaraError, match=r"^the referee sent a message that cannot be read$"):
        client.handle(b"\xff")


def test_a_fatal_status_is_an_exception_with_its_code_and_reason(referee: ScriptedReferee) -> None:
    """Conformance holds which statuses are fatal."""

    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        stream.refuse(grpc.StatusCode.ABORTED, "replaced", "some\nwords")

    referee.scripts.append(script)
    with pytest.raises(
        asara.RefusedError, match=r"refused this bot \(replaced\): some words; "
    ) as caught:
        asara.play(take_first, settings(referee))
    assert (caught.value.code, caught.value.reason) == ("ABORTED", "replaced")
    assert caught.value.exit_status == 1


def test_the_reason_of_a_refusal_is_received_after_a_long_decision(
    referee: ScriptedReferee,
) -> None:
    closed = threading.Event()

    def script(stream: Stream) -> Iterator[PlayResponse]:
        stream.when_closed(closed.set)
        yield scripted.welcome()
        yield scripted.started()
        yield scripted.decision()
        for number in range(50):
            yield scripted.update(1, sequence=number)
        stream.refuse(grpc.StatusCode.RESOURCE_EXHAUSTED, "responses-unread", "late")

    def decide(decision: asara.Decision, _match: asara.Match) -> asara.Action:
        assert closed.wait(EVENT_S)
        return decision.legal_actions[0]

    referee.scripts.append(script)
    with pytest.raises(asara.RefusedError, match="responses-unread"):
        asara.play(decide, settings(referee))


def rejecting(stream: Stream) -> Iterator[PlayResponse]:
    yield scripted.welcome()
    yield scripted.started()
    yield scripted.decision(1)
    stream.reply()
    yield PlayResponse(
        rejection=asara.Rejection(
            match_id="m1",
            decision_id=1,
            reason=asara.RejectionReason.REJECTION_REASON_ILLEGAL_ACTION,
            detail="the genie is not in play",
            legal_actions=LEGAL[1:],
            forgiven=2,
        )
    )
    again = stream.reply()
    assert (again.decision_id, again.actions[0]) == (1, LEGAL[1])
    yield scripted.ended()
    yield scripted.goodbye()


def test_a_rejected_reply_is_logged_and_answered_with_the_first_legal_action(
    referee: ScriptedReferee, caplog: pytest.LogCaptureFixture
) -> None:
    referee.scripts.append(rejecting)
    wish = asara.Action(wish=asara.Wish(space=scripted.SPACES[0]))

    def decide(_decision: asara.Decision, _match: asara.Match) -> asara.Action:
        return wish

    asara.play(decide, settings(referee))
    assert (
        f"{__file__}, line {decide.__code__.co_firstlineno + 1}: the reply to decision 1 of m1 was"
        in caplog.text
    )
    assert "the genie is not in play" in caplog.text
    assert "2 more are forgiven in this match" in caplog.text


def test_an_author_can_answer_a_rejection(referee: ScriptedReferee) -> None:
    class Stubborn(asara.Bot):
        def decide(self, decision: asara.Decision) -> asara.Answer:
            return LEGAL[0]

        def rejected(self, decision: asara.Decision, rejection: asara.Rejection) -> asara.Answer:
            assert decision.decision_id == 1
            assert rejection.forgiven == 2
            return [LEGAL[1], LEGAL[2]]

    referee.scripts.append(rejecting)
    asara.play(Stubborn, settings(referee))


def choices(order: str, seed: int | None, tmp_referee: ScriptedReferee) -> dict[str, list[int]]:
    """Return the choices of a random bot in matches a and b, asked in this order."""
    chosen: dict[str, list[int]] = {"a": [], "b": []}

    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started("a")
        yield scripted.started("b")
        for match_id in order:
            yield scripted.decision(len(chosen[match_id]) + 1, match_id=match_id)
            chosen[match_id].append(LEGAL.index(stream.reply().actions[0]))
        yield scripted.goodbye()

    tmp_referee.scripts.append(script)
    asara.play(
        lambda decision, match: match.random.choice(decision.legal_actions),
        settings(tmp_referee, seed=seed),
    )
    return chosen


def test_chance_depends_on_seed_match_and_seat_only(referee: ScriptedReferee) -> None:
    one_by_one = choices("a" * 12 + "b" * 12, 7, referee)
    assert choices("ab" * 12, 7, referee) == one_by_one
    assert one_by_one["a"] != one_by_one["b"]
    assert choices("ab" * 12, 8, referee) != one_by_one
    assert choices("ab" * 12, None, referee) != choices("ab" * 12, None, referee)


def wrong_answer(decision: asara.Decision, match: asara.Match) -> object:
    if match.seats > 9:
        return decision.legal_actions
    if match.seats == 2:
        return match.wrong_answer  # type: ignore[attr-defined]
    return None


_LINE = wrong_answer.__code__.co_firstlineno + 4


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, "decide returned None for decision 17 of m1; return one of decision.legal_actions"),
        ([], "decide returned an empty list for"),
        (3, "decide returned 3 for .*; return the action itself: decision.legal_actions\\[3\\]"),
        ([LEGAL[0], None], "decide returned a list with None for"),
        (asara.ChooseSpace(), "decide returned a message of type ChooseSpace for"),
        (asara.Action, "decide returned the class Action for"),
        ("x" * 1_000, "decide returned 'x{79}… for"),
    ],
)
def test_an_answer_that_is_none_is_told_with_the_line_that_returned_it(
    referee: ScriptedReferee, monkeypatch: pytest.MonkeyPatch, answer: object, text: str
) -> None:
    def script(_stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started()
        yield scripted.decision(17)

    referee.scripts.append(script)
    monkeypatch.setattr(asara.Match, "wrong_answer", answer, raising=False)
    with pytest.raises(asara.BotError, match=f"^{__file__}, line {_LINE}: {text}") as caught:
        asara.play(wrong_answer, settings(referee))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_a_grpc_error_of_the_author_is_no_break(referee: ScriptedReferee) -> None:
    class ModelServerGoneError(grpc.RpcError):
        pass

    def script(_stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started()
        yield scripted.decision()

    def decide(_decision: asara.Decision, _match: asara.Match) -> asara.Action:
        raise ModelServerGoneError

    referee.scripts.append(script)
    with pytest.raises(ModelServerGoneError):
        asara.play(decide, settings(referee))


class WithArguments(Recorder):
    def __init__(self, depth: int) -> None:
        self.depth = depth


class WithoutEvents(Recorder):
    def updated(self) -> None:  # type: ignore[override]
        pass


class WithoutBase:
    pass


def no_arguments() -> asara.Action:
    return LEGAL[0]


async def asynchronous(decision: asara.Decision, _match: asara.Match) -> asara.Action:
    return decision.legal_actions[0]


@pytest.mark.parametrize(
    ("bot", "message"),
    [
        (Recorder.__new__(Recorder), "pass the class Recorder, not an instance"),
        (dict, "dict must be a subclass of asara.Bot"),
        (asara.Bot, "Bot needs a method: def decide"),
        (3, "expected a subclass of asara.Bot or a function, not 3"),
        (None, r"not None; write `asara.run\(decide\)`, without `\(\)`"),
        (
            WithoutBase(),
            r"not an object of the class WithoutBase; write `class WithoutBase\(asara.Bot\):` .*",
        ),
        (asara.Action(), r"not Action; write `asara.run\(decide\)`, without `\(\)`"),
        (asynchronous, "without `async`"),
        (no_arguments, r"decide must take the arguments \(decision, match\); write `def decide\("),
        (WithoutEvents, r"updated must take the arguments \(self, events\)"),
        (WithArguments, r"__init__ must take the arguments \(self\)"),
    ],
)
def test_a_bot_of_the_wrong_type_is_told_with_its_line(bot: object, message: str) -> None:
    with pytest.raises(asara.BotError, match=f"^{__file__}, line [0-9]+: .*{message}"):
        asara.play(bot)  # type: ignore[arg-type]


def test_a_rejection_says_what_the_next_one_causes() -> None:
    assert forgiveness(0) == "the next rejection forfeits the match"
    assert forgiveness(1) == "1 more is forgiven in this match"


def test_bots_may_be_made_of_any_callable(referee: ScriptedReferee) -> None:
    class Callable:
        def __call__(self, decision: asara.Decision, match: asara.Match) -> asara.Action:
            return take_first(decision, match)

    def with_depth(_depth: int, decision: asara.Decision, match: asara.Match) -> asara.Action:
        return take_first(decision, match)

    @functools.wraps(take_first)
    def wrapped(*arguments: object) -> asara.Action:
        return take_first(*arguments)  # type: ignore[arg-type]

    for bot in (Callable(), functools.partial(with_depth, 3), wrapped):
        referee.scripts.append(scripted.one_match)
        asara.play(bot, settings(referee))
