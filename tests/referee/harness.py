"""What the referee's tests share: matches driven by hand, and streams under a test's control."""

import asyncio
import functools
import random
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ParamSpec

import grpc
from structlog.typing import FilteringBoundLogger

from asara.v1.play_pb2 import Hello, PlayRequest, PlayResponse, Reply
from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.encode import action_message
from asara_game.actions import Action
from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server.eventlog.journal import Journal
from asara_server.match.inputs import Presence
from asara_server.match.match import Answer, Match
from asara_server.match.spec import ClockSettings, MatchSpec, Player
from asara_server.network.grpc_server import PLAY, serve
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee
from asara_server.referee.stream_errors import REASON_KEY

EDITION = load_edition()
SECRET = bytes(range(32))
LIMITS = LimitSettings()
P = ParamSpec("P")


@functools.cache
def rules(seats: int = 2, rule_sets: str = "basic") -> Rules:
    return Rules(EDITION, parse_rule_sets(rule_sets), seats)


def spec(
    seats: int = 2,
    rule_sets: str = "basic",
    *,
    match_id: str = "m1",
    clocks: ClockSettings | None = None,
    secret: bytes = SECRET,
) -> MatchSpec:
    """A match of entries a, b, … whose tokens are token-a and so on."""
    players = tuple(Player(name, f"token-{name}") for name in "abcd"[:seats])
    return MatchSpec(match_id, rules(seats, rule_sets), players, clocks or ClockSettings(), secret)


class Driven:
    """A match without a referee: time is what the test says, and messages pile up in `told`."""

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
        """The seat that decides; fails where none does."""
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
        """Forget what was told so far."""
        for told in self.told:
            told.clear()

    def kinds(self, seat: int) -> list[str | None]:
        """Kinds of the messages told to a seat."""
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
    ) -> Answer:
        """Answer the open decision (or another one) by these actions, or by the first legal one."""
        self.pass_time(after_s)
        seat = self.asked if seat is None else seat
        if decision is None:
            decision = self.decision_id(seat)
        messages = [a if isinstance(a, ActionMessage) else action_message(a) for a in actions]
        if not actions:
            messages = [action_message(self.match.state.legal[0])]
        answer = self.match.reply(seat, decision, messages, self.now)
        if answer is Answer.ACCEPTED:
            self.match.record_reply(referee_us)
        self.take()
        return answer

    def decision_id(self, seat: int) -> int:
        """The last decision that a seat was asked."""
        return self._decision_ids[seat]

    def expire(self, after_s: float = 0.0) -> None:
        self.pass_time(after_s)
        self.match.expire(self.now)
        self.take()

    def play_out(self, rng: random.Random, until: Callable[[Match], bool] | None = None) -> None:
        """Play at random to the end, or until a condition holds."""
        while not self.match.finished and not (until and until(self.match)):
            self.reply(rng.choice(self.match.state.legal))


def asynchronous(
    test: Callable[P, Coroutine[Any, Any, None]],
) -> Callable[P, None]:
    """Run a test in an event loop of its own, for half a minute at most."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def limited() -> None:
            async with asyncio.timeout(30):
                await test(*args, **kwargs)

        asyncio.run(limited())

    return run


async def until(condition: Callable[[], object]) -> None:
    """Wait until this holds; nothing tells when."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


class Court:
    """A referee that listens on a unix socket."""

    def __init__(self, referee: Referee, address: str) -> None:
        self.referee = referee
        self.address = address
        self._channels: list[grpc.aio.Channel] = []

    def admit(self, *names: str) -> None:
        """Admit bots by the names of `spec`."""
        for name in names:
            self.referee.admit(f"token-{name}", name)

    def channel(self, *options: tuple[str, int]) -> grpc.aio.Channel:
        """A connection of its own, closed at the end of the test."""
        options = (("grpc.use_local_subchannel_pool", 1), *options)
        channel = grpc.aio.insecure_channel(self.address, options=options)
        self._channels.append(channel)
        return channel

    def stream(self, *options: tuple[str, int]) -> "Stream":
        """A new stream on a connection of its own; nothing is sent."""
        return Stream(self.channel(*options))

    async def dial(self, name: str, *options: tuple[str, int], **hello: Any) -> "Stream":
        """A stream that has said hello and read the welcome."""
        stream = self.stream(*options)
        await stream.hello(f"token-{name}", **hello)
        assert (await stream.read()).WhichOneof("response") == "welcome"
        return stream

    async def close(self) -> None:
        for channel in self._channels:
            await channel.close()


@asynccontextmanager
async def court(
    limits: LimitSettings | None = None,
    log: FilteringBoundLogger | None = None,
    journal: Journal | None = None,
) -> AsyncIterator[Court]:
    """A referee on a unix socket, for the time of a test."""
    referee = Referee(limits=limits, log=log, journal=journal)
    with tempfile.TemporaryDirectory() as directory:
        server, address = await serve(referee, f"unix:{Path(directory) / 'socket'}")
        held = Court(referee, address)
        try:
            yield held
        finally:
            await referee.stop(finish_s=0)
            await held.close()
            await server.stop(0)


class Stream:
    """A bot's stream, request by request."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel
        method = channel.stream_stream(
            f"/{PLAY}/Play",
            request_serializer=bytes,
            response_deserializer=PlayResponse.FromString,
        )
        self.call = method()

    async def send_bytes(self, data: bytes) -> None:
        await self.call.write(data)

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
        """Whether nothing comes for a while; what comes is lost."""
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
        """Reply to a decision by these actions, or by the first legal one."""
        fields = {
            "match_id": decision.match_id,
            "decision_id": decision.decision_id,
            "actions": actions or decision.legal_actions[:1],
        }
        await self.send(reply=Reply(**{**fields, **changed}))

    async def ending(self) -> tuple[grpc.StatusCode, str | None]:
        """How the stream ended: its status, and the reason for programs."""
        try:
            while await self.call.read() is not grpc.aio.EOF:
                pass
        except grpc.aio.AioRpcError:
            pass
        code = await self.call.code()
        metadata = dict(await self.call.trailing_metadata() or ())
        reason = metadata.get(REASON_KEY)
        return code, reason if reason is None else str(reason)


Choose = Callable[[Any, random.Random], Iterable[ActionMessage]]


def one_at_random(decision: Any, rng: random.Random) -> Iterable[ActionMessage]:
    """A policy: any legal action."""
    return [rng.choice(decision.legal_actions)]


async def play_bot(
    stream: Stream, matches: int = 1, seed: int = 0, choose: Choose = one_at_random
) -> list[Any]:
    """Play until so many matches are over; returns their MatchEnded."""
    rng = random.Random(seed)
    ended: list[Any] = []
    while len(ended) < matches:
        response = await stream.read()
        kind = response.WhichOneof("response")
        if kind == "decision":
            await stream.answer(response.decision, *choose(response.decision, rng))
        elif kind == "match_ended":
            ended.append(response.match_ended)
        elif kind == "goodbye":
            break
    return ended


async def together(*tasks: Awaitable[Any]) -> list[Any]:
    """Run side by side; the first failure ends all."""
    async with asyncio.TaskGroup() as group:
        started = [group.create_task(_run(task)) for task in tasks]
    return [task.result() for task in started]


async def _run(task: Awaitable[Any]) -> Any:
    return await task
