"""A scripted referee: a real gRPC server that runs one script per stream."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NoReturn, TypeAlias

import grpc

import asara
from asara.v1.play_pb2 import (
    DealCommitted,
    Goodbye,
    Hello,
    Nonce,
    PlayRequest,
    PlayResponse,
    Reply,
    Update,
    Welcome,
)


class Stream:
    """The referee's side of one stream: the requests of the bot, and ways to end the stream."""

    def __init__(self, requests: Iterator[PlayRequest], context: grpc.ServicerContext) -> None:
        self._requests = requests
        self._context = context
        self.refused = False

    def hello(self) -> Hello:
        return self._next("hello").hello

    def reply(self) -> Reply:
        return self._next("reply").reply

    def nonce(self) -> Nonce:
        return self._next("nonce").nonce

    def expect_nothing_more(self) -> None:
        """Wait until the bot has left."""
        with suppress(grpc.RpcError):  # left without closing the stream
            assert next(self._requests, None) is None

    def refuse(self, code: grpc.StatusCode, reason: str, detail: str) -> NoReturn:
        """End the stream as the referee does, with a status and an `asara-reason`."""
        self.refused = True
        self._context.set_trailing_metadata((("asara-reason", reason),))
        self._context.abort(code, detail)

    def when_closed(self, then: Callable[[], None]) -> None:
        """Call `then` as soon as the final status has been sent."""
        assert self._context.add_callback(then)

    def _next(self, kind: str) -> PlayRequest:
        request = next(self._requests)
        assert request.WhichOneof("request") == kind
        return request


Script: TypeAlias = Callable[[Stream], Iterator[PlayResponse]]


class ScriptedReferee:
    """Runs `scripts` in order, one per stream; `stop` raises the first failure of a script."""

    def __init__(self, address: str, credentials: grpc.ServerCredentials | None = None) -> None:
        self.scripts: list[Script] = []
        self.hellos: list[Hello] = []
        self._failures: list[Exception] = []
        self._server = grpc.server(ThreadPoolExecutor(4))
        handler = grpc.stream_stream_rpc_method_handler(
            self._play,
            request_deserializer=PlayRequest.FromString,
            response_serializer=PlayResponse.SerializeToString,
        )
        self._server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler("asara.v1.PlayService", {"Play": handler})]
        )
        if credentials is None:
            port = self._server.add_insecure_port(address)
        else:
            port = self._server.add_secure_port(address, credentials)
        self.address = address.removesuffix(":0") + (f":{port}" if address.endswith(":0") else "")
        self._server.start()

    def stop(self) -> None:
        self._server.stop(None).wait()
        if self._failures:
            raise self._failures[0]
        assert not self.scripts, "the bot opened fewer streams than expected"

    def _play(
        self, requests: Iterator[PlayRequest], context: grpc.ServicerContext
    ) -> Iterator[PlayResponse]:
        stream = Stream(requests, context)
        try:
            self.hellos.append(stream.hello())
            assert self.scripts, "the bot opened more streams than expected"
            yield from self.scripts.pop(0)(stream)
        except Exception as failure:
            if not stream.refused:
                self._failures.append(failure)
                stream.refuse(grpc.StatusCode.ABORTED, "script", repr(failure))
            raise


def welcome(entry: str = "tested") -> PlayResponse:
    limits = asara.Limits(actions_per_reply=32)
    return PlayResponse(welcome=Welcome(protocol_version=1, entry=entry, limits=limits))


SECRET = bytes(range(32))
COMMITMENT = hashlib.sha256(SECRET).digest()


def committed(
    match_id: str = "m1", *, seat: int = 0, commitment: bytes = COMMITMENT
) -> PlayResponse:
    return PlayResponse(
        deal_committed=DealCommitted(match_id=match_id, seat=seat, deal_commitment=commitment)
    )


def started(
    match_id: str = "m1",
    *,
    seat: int = 0,
    sequence: int = 0,
    resumed: bool = False,
    commitment: bytes = COMMITMENT,
    nonces: Sequence[bytes] = (),
    shared_deal: bool = False,
) -> PlayResponse:
    return PlayResponse(
        match_started=asara.MatchStarted(
            match_id=match_id,
            seat=seat,
            seats=2,
            rule_sets=[asara.RuleSet.RULE_SET_BASIC, asara.RuleSet.RULE_SET_GIFTS],
            edition=asara.Edition(name="tested", years=4),
            clocks=asara.Clocks(bank_us=60_000_000),
            sequence=sequence,
            resumed=resumed,
            deal_commitment=commitment,
            nonces=nonces,
            shared_deal=shared_deal,
        )
    )


def new_events(*amounts: int) -> list[asara.Event]:
    """Return events that differ in their change of Asari."""
    return [asara.Event(asari=amount) for amount in amounts]


def update(*amounts: int, sequence: int, match_id: str = "m1") -> PlayResponse:
    return PlayResponse(
        update=Update(match_id=match_id, events=new_events(*amounts), sequence=sequence)
    )


SPACES = [
    asara.Space(area=asara.Area.AREA_BANK, number=12),
    asara.Space(area=asara.Area.AREA_COLOURED_BUILDING, number=1),
    asara.Space(area=asara.Area.AREA_TENT, number=2),
]
LEGAL = [asara.Action(choose_space=asara.ChooseSpace(space=space)) for space in SPACES]
HAND = [asara.BuyerColour.BUYER_COLOUR_BLUE, asara.BuyerColour.BUYER_COLOUR_GREEN]


def decision(
    number: int = 1,
    *,
    match_id: str = "m1",
    events: Sequence[asara.Event] = (),
    sequence: int = 0,
    kind: asara.DecisionKind = asara.DecisionKind.DECISION_KIND_SPACE,
    legal: Sequence[asara.Action] = LEGAL,
) -> PlayResponse:
    return PlayResponse(
        decision=asara.Decision(
            match_id=match_id,
            decision_id=number,
            kind=kind,
            legal_actions=legal,
            events=events,
            sequence=sequence,
            view=asara.View(private_view=asara.PrivateView(hand=HAND)),
        )
    )


def ended(
    match_id: str = "m1",
    events: Sequence[asara.Event] = (),
    sequence: int = 0,
    *,
    secret: bytes = SECRET,
    void: bool = False,
) -> PlayResponse:
    results = [asara.SeatResult(seat=0, rank=1), asara.SeatResult(seat=1, rank=2)]
    return PlayResponse(
        match_ended=asara.MatchEnded(
            match_id=match_id,
            events=events,
            sequence=sequence,
            results=results,
            deal_secret=b"" if void else secret,
            void=void,
        )
    )


def goodbye() -> PlayResponse:
    return PlayResponse(goodbye=Goodbye(reason="all matches are played"))


def one_match(stream: Stream) -> Iterator[PlayResponse]:
    """Run a match of two turns for a bot that answers with single actions or whole turns."""
    yield welcome()
    yield started()
    for turn in range(2):
        yield decision(2 * turn + 1)
        first = stream.reply()
        assert first.decision_id == 2 * turn + 1
        assert first.actions[0] in LEGAL
        if len(first.actions) > 1:
            continue  # a whole turn at once
        lays = [asara.Action(lay_buyers=asara.LayBuyers(buyers=[buyer])) for buyer in HAND]
        kind = asara.DecisionKind.DECISION_KIND_BUYERS
        yield decision(2 * turn + 2, kind=kind, legal=lays)
        assert stream.reply().actions[0] in lays
    yield ended()
    yield goodbye()
