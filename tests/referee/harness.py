"""Matches that a test drives by itself, and a referee with streams under the test's control."""

import asyncio
import contextlib
import functools
import random
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from structlog.typing import FilteringBoundLogger

from asara.v1.play_pb2 import Hello, PlayRequest, PlayResponse, Reply
from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.clocks import Clocks
from asara_codec.encode import action_message
from asara_game.actions import Action
from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server.journal.journal import Journal
from asara_server.match.inputs import Presence
from asara_server.match.match import Answer, Match
from asara_server.match.spec import MatchSpec, Player
from asara_server.network.bot_server import BotServer
from asara_server.network.grpc_server import PLAY_SERVICE, serve
from asara_server.referee import stall_clock
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee
from asara_server.referee.stall_clock import StallClock
from asara_server.referee.stream_errors import REASON_KEY

EDITION = load_edition()
SECRET = bytes(range(32))
LIMITS = LimitSettings()


@functools.cache
def rules(seats: int = 2, rule_sets: str = "basic") -> Rules:
    return Rules(EDITION, parse_rule_sets(rule_sets), seats)


def spec(
    seats: int = 2,
    rule_sets: str = "basic",
    *,
    match_id: str = "m1",
    clocks: Clocks | None = None,
    secret: bytes = SECRET,
    hide_forced: bool = False,
) -> MatchSpec:
    """A match of the entries a, b, …, whose tokens are token-a and so on."""
    players = tuple(Player(name, f"token-{name}") for name in "abcd"[:seats])
    return MatchSpec(
        match_id,
        rules(seats, rule_sets),
        players,
        clocks or Clocks(),
        secret,
        hide_forced=hide_forced,
    )


class Driven:
    """A match without a referee: the test sets the time, and `told` collects the messages."""

    def __init__(
        self,
        match_spec: MatchSpec | None = None,
        *,
        limits: LimitSettings = LIMITS,
        present: dict[int, Presence] | None = None,
        start: bool = True,
    ) -> None:
        self.spec = match_spec or spec()
        self.match = Match(self.spec, limits.match_limits)
        self.now = 0
        self.told: list[list[PlayResponse]] = [[] for _ in self.spec.players]
        self._decision_ids = [0] * len(self.told)
        if start:
            seats = range(len(self.spec.players))
            self.match.start(present or {seat: Presence() for seat in seats}, {})
            self.take()

    @property
    def asked(self) -> int:
        """The seat that has to decide; fails if there is none."""
        assert self.match.asked is not None
        return self.match.asked

    def take(self) -> None:
        """Move the outbox to `told`."""
        for seat, data in self.match.outbox:
            response = PlayResponse.FromString(data)
            self.told[seat].append(response)
            if response.HasField("decision"):
                self._decision_ids[seat] = response.decision.decision_id
        self.match.outbox.clear()

    def clear(self) -> None:
        """Drop the messages collected so far."""
        for told in self.told:
            told.clear()

    def kinds(self, seat: int) -> list[str | None]:
        """Kinds of the messages to a seat."""
        return [response.WhichOneof("response") for response in self.told[seat]]

    def pass_time(self, seconds: float) -> None:
        self.now += round(seconds * 1_000_000)

    def reply(
        self,
        *actions: Action | ActionMessage,
        seat: int | None = None,
        decision: int | None = None,
        after_s: float = 0.001,
        referee_us: int = 0,
        socket_us: int | None = None,
        unread_bytes: int | None = None,
        expected: Answer = Answer.ACCEPTED,
    ) -> None:
        """Answer the open decision, or another one, with these actions or the first legal one."""
        self.pass_time(after_s)
        seat = self.asked if seat is None else seat
        if decision is None:
            decision = self.decision_id(seat)
        messages = [a if isinstance(a, ActionMessage) else action_message(a) for a in actions]
        if not actions:
            messages = [action_message(self.match.state.legal[0])]
        answer = self.match.reply(seat, decision, messages, self.now)
        assert answer is expected
        if answer is Answer.ACCEPTED:
            self.match.record_reply(referee_us)
        elif answer is Answer.LATE:
            self.match.record_late_reply(socket_us, unread_bytes)
        self.take()

    def decision_id(self, seat: int) -> int:
        """The number of the last decision of a seat."""
        return self._decision_ids[seat]

    def expire(self, after_s: float = 0.0) -> None:
        self.pass_time(after_s)
        self.match.expire(self.now)
        self.take()

    def play_out(self, rng: random.Random, until: Callable[[Match], bool] | None = None) -> None:
        """Play at random to the end, or until a condition holds."""
        while not self.match.finished and not (until and until(self.match)):
            self.reply(rng.choice(self.match.state.legal))


class MovedTime:
    """The system's clock as the referee's clock reads it: it moves only when the test moves it."""

    def __init__(self) -> None:
        self._ns = time.monotonic_ns()

    def monotonic_ns(self) -> int:
        return self._ns

    def stall(self, seconds: float) -> None:
        """Let time pass in which the event loop does not turn, as on a slow disk."""
        self._ns += round(seconds * 1e9)

    async def run(self, clock: StallClock, seconds: float) -> None:
        """Let time pass while the event loop turns, and a held clock beats."""
        for _ in range(round(seconds * 1e6) // stall_clock.BEAT_US):
            self._ns += stall_clock.BEAT_US * 1_000
            clock._advance()
            await asyncio.sleep(0)


@contextmanager
def moved_time() -> Iterator[MovedTime]:
    """Stop the clocks of the referees that are made meanwhile, except for what the test moves."""
    time = MovedTime()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stall_clock, "_monotonic_ns", time.monotonic_ns)
        yield time


class RefereeServer:
    """A referee that listens on a Unix socket, and connections to it."""

    def __init__(self, referee: Referee, address: str) -> None:
        self.referee = referee
        self.address = address
        self._channels: list[grpc.aio.Channel] = []

    def admit(self, *names: str) -> None:
        """Register bots by the names of `spec`."""
        for name in names:
            self.referee.register_bot(f"token-{name}", name)

    def channel(self, *options: tuple[str, int]) -> grpc.aio.Channel:
        """A new connection, closed at the end of the test."""
        options = (("grpc.use_local_subchannel_pool", 1), *options)
        channel = grpc.aio.insecure_channel(self.address, options=options)
        self._channels.append(channel)
        return channel

    def stream(self, *options: tuple[str, int]) -> "Stream":
        """A new stream on a new connection; nothing is sent."""
        return Stream(self.channel(*options))

    async def dial(self, name: str, *options: tuple[str, int], **hello: Any) -> "Stream":
        """A stream that has sent Hello and received Welcome."""
        stream = self.stream(*options)
        await stream.hello(f"token-{name}", **hello)
        assert (await stream.read()).WhichOneof("response") == "welcome"
        return stream

    async def dial_all(self, names: str, **hello: Any) -> list["Stream"]:
        """Register bots by the names of `spec`, such as "ab"; return a stream of each."""
        self.admit(*names)
        return [await self.dial(name, **hello) for name in names]

    async def close(self) -> None:
        for channel in self._channels:
            await channel.close()


@asynccontextmanager
async def referee_server(
    limits: LimitSettings | None = None,
    log: FilteringBoundLogger | None = None,
    journal: Journal | None = None,
) -> AsyncIterator[RefereeServer]:
    """Serve a referee on a Unix socket until the exit."""
    referee = Referee(limits=limits, log=log, journal=journal)
    with tempfile.TemporaryDirectory() as directory:
        running = await serve(referee, f"unix:{Path(directory) / 'socket'}")
        server = RefereeServer(referee, running.address)
        try:
            yield server
        finally:
            await referee.stop(finish_s=0)
            await server.close()
            await running.stop(0)


@asynccontextmanager
async def own_address(server: RefereeServer, name: str) -> AsyncIterator[RefereeServer]:
    """Register a bot at an address of its own; yield the referee at this address."""
    with tempfile.TemporaryDirectory() as directory:
        own = BotServer(server.referee, f"token-{name}", on_flood=lambda why: None)
        await own.start(f"unix:{Path(directory) / 'socket'}")
        server.referee.register_bot(f"token-{name}", name, authenticator=own)
        there = RefereeServer(server.referee, own.address)
        try:
            yield there
        finally:
            await there.close()
            await own.stop()


_WRITE_ERRORS: Final = (grpc.aio.InternalError, grpc.aio.AioRpcError)


class Stream:
    """A bot's stream, which the test reads and writes message by message."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel
        method = channel.stream_stream(
            f"/{PLAY_SERVICE}/Play",
            request_serializer=bytes,
            response_deserializer=PlayResponse.FromString,
        )
        self.call: Any = method()

    async def send_bytes(self, data: bytes) -> None:
        """Send a request. If the stream has ended, or ends meanwhile, reading says how."""
        with contextlib.suppress(*_WRITE_ERRORS):
            await self.call.wait_for_connection()
            # As in the client: `call.write` would replace the ending by an error of its own.
            await self.call._cython_call.send_serialized_message(data)

    async def send(self, **member: Any) -> None:
        await self.send_bytes(PlayRequest(**member).SerializeToString())

    async def hello(self, token: str, **fields: Any) -> None:
        await self.send(hello=Hello(**{"protocol_version": 1, "token": token, **fields}))

    async def read(self) -> PlayResponse:
        """The next response; fails at the end of the stream."""
        response = await self.call.read()
        assert isinstance(response, PlayResponse), "the stream has ended"
        return response

    async def expect(self, kind: str) -> Any:
        """The next response, which must be of this kind."""
        response = await self.read()
        found = response.WhichOneof("response")
        assert found == kind, f"{found} instead of {kind}: {response}"
        return getattr(response, kind)

    async def silent(self, seconds: float = 0.1) -> bool:
        """True if nothing arrives for a while; what arrives is lost."""
        try:
            await asyncio.wait_for(self.call.read(), seconds)
        except TimeoutError:
            return True
        return False

    async def until(self, kind: str) -> Any:
        """The next response of this kind; others are skipped."""
        while True:
            response = await self.read()
            if response.WhichOneof("response") == kind:
                return getattr(response, kind)

    async def answer(self, decision: Any, *actions: ActionMessage, **changed: Any) -> None:
        """Reply to a decision with these actions or the first legal one."""
        fields = {
            "match_id": decision.match_id,
            "decision_id": decision.decision_id,
            "actions": actions or decision.legal_actions[:1],
        }
        await self.send(reply=Reply(**{**fields, **changed}))

    async def ending(self) -> tuple[grpc.StatusCode, str | None]:
        """Read to the end of the stream; return its status and the machine-readable reason."""
        try:
            while await self.call.read() is not grpc.aio.EOF:
                pass
        except grpc.aio.AioRpcError:
            pass
        code = await self.call.code()
        metadata = dict(await self.call.trailing_metadata() or ())
        reason = metadata.get(REASON_KEY)
        return code, reason if reason is None else str(reason)


async def dial_until_welcome(new_stream: Callable[[], Stream], token: str) -> Stream:
    """Dial in and, like the clients, again if the gate has no place for the connection."""
    while True:
        stream = new_stream()
        try:
            await stream.hello(token)
            await stream.expect("welcome")
        except grpc.aio.AioRpcError as error:
            await stream.channel.close()
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
            await asyncio.sleep(0.1)
        else:
            return stream


Choose = Callable[[Any, random.Random], Iterable[ActionMessage]]


def one_at_random(decision: Any, rng: random.Random) -> Iterable[ActionMessage]:
    """Policy: any legal action."""
    return [rng.choice(decision.legal_actions)]


async def play_bot(
    stream: Stream, matches: int = 1, seed: int = 0, choose: Choose = one_at_random
) -> list[Any]:
    """Play until this number of matches are over; return their MatchEnded."""
    rng = random.Random(seed)
    ended: list[Any] = []
    while len(ended) < matches:
        response = await stream.read()
        kind = response.WhichOneof("response")
        assert kind != "deal_committed", "a nonce is due only before the match"
        if kind == "decision":
            await stream.answer(response.decision, *choose(response.decision, rng))
        elif kind == "match_ended":
            ended.append(response.match_ended)
        elif kind == "goodbye":
            break
    return ended


async def together(*tasks: Awaitable[Any]) -> list[Any]:
    """Run concurrently; the first failure cancels the others."""
    async with asyncio.TaskGroup() as group:
        started = [group.create_task(_run(task)) for task in tasks]
    return [task.result() for task in started]


async def _run(task: Awaitable[Any]) -> Any:
    return await task
