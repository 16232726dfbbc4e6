"""Plays the scripts of a case with the program, one stream after another."""

import asyncio
import hmac
import time
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import Any, Final

import grpc
from google.protobuf.json_format import ParseDict

from asara.v1 import play_pb2
from asara.v1.play_pb2 import PlayResponse
from asara.v1.vocabulary_pb2 import Action
from asara_codec.messages import goodbye_bytes, welcome_bytes
from asara_server.conformance import case as form
from asara_server.conformance.failure import CaseFailed
from asara_server.conformance.mutations import UNKNOWN_MEMBER, mutated
from asara_server.conformance.played_match import LIMITS, PlayedMatch
from asara_server.conformance.program import Program
from asara_server.conformance.stage import Stage
from asara_server.conformance.stream import Stream, described

PROTOCOL_VERSION: Final = 1
_NONCE_BYTES: Final = 32
_TEXT_CHARACTERS: Final = 64
_START_S: Final = 30.0
"""Seconds to wait for a stream, as some programs start slowly."""
_WAIT_S: Final = 10.0
"""Seconds to wait for a request."""
_MOST_BUSY: Final = 0.25
"""Maximum share of samples in which a waiting program may be found running."""


class Script:
    """All scripts of a case, and the state that they share.

    - `matches`: by name, each with everything that was sent in it
    - `replies`: number of replies so far
    """

    def __init__(self, case: form.Case, stage: Stage, program: Program, token: str) -> None:
        self._case = case
        self._stage = stage
        self._program = program
        self._token = token
        seed, by_rule = case.settings.seed, case.by_rule
        self.matches = {
            name: PlayedMatch(name, settings, seed, by_rule=by_rule)
            for name, settings in case.matches.items()
        }
        self.replies = 0
        self._early: dict[str, play_pb2.Reply] = {}
        self._hello = play_pb2.Hello()
        self._stream_open = False
        self._steps: dict[type, Callable[[Stream, Any], Awaitable[None]]] = {
            form.Hello: self._check_hello,
            form.Welcome: self._welcome,
            form.Commit: self._commit,
            form.Start: self._start,
            form.Resume: self._resume,
            form.Ask: self._ask,
            form.Answer: self._answer,
            form.Play: self._play,
            form.Reject: self._reject,
            form.Lose: self._lose,
            form.Update: self._update,
            form.Finish: self._finish,
            form.Void: self._void,
            form.Send: self._send_any,
            form.Silence: self._silence,
            form.Drop: self._drop,
            form.End: self._end,
            form.Cut: self._cut,
            form.Goodbye: self._goodbye,
        }

    async def perform(self) -> None:
        """Play all scripts; raise CaseFailed at the first step that fails."""
        for steps in self._case.streams:
            stream = await self._stage.next_stream(_START_S)
            self._early.clear()
            expected = "a Hello as the first request"
            self._hello = await stream.request("hello", expected, _WAIT_S)
            version = self._hello.protocol_version
            if version != PROTOCOL_VERSION:
                raise CaseFailed(f"protocol_version {PROTOCOL_VERSION}", str(version))
            if self._hello.token != self._token:
                raise CaseFailed("the token of ASARA_TOKEN in Hello", "another one")
            self._stream_open = True
            for step in steps:
                await self._steps[type(step)](stream, step)
            if self._stream_open:
                raise AssertionError(f"{self._case.name}: a script does not end its stream")
            for match in self.matches.values():
                match.leave()

    # Sending

    async def _send(self, stream: Stream, message: bytes, changes: Sequence[str] = ()) -> None:
        """Send a message after applying the changes, and note it for its match."""
        message = mutated(message, changes)
        await stream.send(message)
        response = PlayResponse.FromString(message)
        member = response.WhichOneof("response")
        name = getattr(getattr(response, member or "", None), "match_id", "")
        if name in self.matches:
            self.matches[name].note_sent(message)

    async def _send_all(
        self, stream: Stream, messages: Sequence[bytes], changes: Sequence[str] = ()
    ) -> None:
        """Send messages, applying the changes to the last one."""
        for message in messages[:-1]:
            await self._send(stream, message)
        await self._send(stream, messages[-1], changes)

    async def _welcome(self, stream: Stream, step: form.Welcome) -> None:
        limits = play_pb2.Limits(
            request_bytes=65_536,
            requests_per_second=1_000,
            matches=8,
            actions_per_reply=LIMITS.actions_per_reply,
            rejections_forgiven=LIMITS.rejections_forgiven,
            responses_unread=1_024,
        )
        message = welcome_bytes(
            protocol_version=PROTOCOL_VERSION, referee="conformance", entry="program", limits=limits
        )
        await self._send(stream, message, step.changes)

    async def _send_any(self, stream: Stream, step: form.Send) -> None:
        if step.send == "unknown":
            await stream.send(UNKNOWN_MEMBER)
        else:
            response = ParseDict(step.send, PlayResponse())
            await self._send(stream, response.SerializeToString())

    # Hello and nonces

    async def _check_hello(self, _: Stream, step: form.Hello) -> None:
        if step.hello == "fields":
            self._check_fields()
            return
        running = [match for match in self.matches.values() if match.running]
        wanted = {}
        if step.hello == "last events":
            wanted = {match.name: match.sequence for match in running}
        found = {one.match_id: one.sequence for one in self._hello.last_events}
        if found != wanted:
            raise CaseFailed(f"last_events {_events(wanted)}", _events(found))

    def _check_fields(self) -> None:
        hello = self._hello
        for name in ("language", "bot_name"):
            text = getattr(hello, name)
            if len(text) > _TEXT_CHARACTERS:
                raise CaseFailed(f"at most 64 characters in {name}", f"{len(text)}")
        if not hello.language.strip():
            raise CaseFailed("the language in Hello", "none")
        if hello.last_events:
            raise CaseFailed("no last_events in the first Hello", f"{len(hello.last_events)}")

    async def _commit(self, stream: Stream, step: form.Commit) -> None:
        match = self.matches[step.commit]
        await self._send(stream, match.commitment(), step.changes)
        nonce = await stream.request("nonce", f"a Nonce for {match.name!r}", _WAIT_S)
        if nonce.match_id != match.name:
            raise CaseFailed(f"a Nonce for {match.name!r}", f"one for {nonce.match_id!r}")
        if len(nonce.nonce) != _NONCE_BYTES:
            raise CaseFailed(f"a nonce of {_NONCE_BYTES} bytes", f"{len(nonce.nonce)}")
        if match.nonce and nonce.nonce != match.nonce:
            raise CaseFailed("the nonce that was sent before", "another one")
        if any(nonce.nonce == other.nonce for other in self.matches.values() if other is not match):
            raise CaseFailed("a nonce of its own for every match", "that of another match")
        seed = self._case.settings.seed
        text = f"nonce/{match.name}/{match.seat}".encode()
        wanted = hmac.digest(seed.encode(), text, sha256)
        if self._case.by_rule and nonce.nonce != wanted:
            raise CaseFailed("the nonce that follows from ASARA_SEED", "another one")
        match.nonce = nonce.nonce

    # Matches

    async def _start(self, stream: Stream, step: form.Start) -> None:
        match = self.matches[step.start]
        await self._send(stream, match.start(self._hello), step.changes)

    async def _resume(self, _: Stream, step: form.Resume) -> None:
        self.matches[step.resume].resume(self._hello)

    async def _ask(self, stream: Stream, step: form.Ask) -> None:
        messages = self.matches[step.ask].ask()
        assert messages, f"{self._case.name}: {step.ask} has no decision to ask"
        await self._send_all(stream, messages, step.changes)

    async def _answer(self, stream: Stream, step: form.Answer) -> None:
        match = self.matches[step.answer]
        match.answer(await self._reply(stream, match))

    async def _reply(self, stream: Stream, match: PlayedMatch) -> list[Action]:
        """Return the actions of the reply to the open decision, after checking them."""
        assert match.open is not None, f"{self._case.name}: {match.name} has no open decision"
        number = match.open.decision_id
        expected = f"a Reply to decision {number} of {match.name!r}"
        while match.name not in self._early:
            reply = await stream.request("reply", expected, _WAIT_S)
            if reply.match_id not in self.matches or reply.match_id in self._early:
                raise CaseFailed(expected, described(play_pb2.PlayRequest(reply=reply)))
            self._early[reply.match_id] = reply
        reply = self._early.pop(match.name)
        self.replies += 1
        if reply.decision_id != number:
            raise CaseFailed(expected, f"one to decision {reply.decision_id}")
        actions, legal = list(reply.actions), list(match.open.legal_actions)
        if not 0 < len(actions) <= LIMITS.actions_per_reply:
            raise CaseFailed("an action in the reply", f"{len(actions)} actions")
        if actions[0] not in legal:
            raise CaseFailed(f"a legal action for decision {number}", "another action")
        wanted = match.expected_answer
        if wanted is not None and actions != wanted:
            which = f"legal action {legal.index(wanted[0])} of decision {number} of {match.name!r}"
            why = "by the published rule" if self._case.by_rule else "as before"
            more = f", and {len(actions) - 1} more" if actions[1:] else ""
            seen = f"action {legal.index(actions[0])} of {len(legal)}{more}"
            raise CaseFailed(f"{which}, {why}", seen)
        return actions

    async def _play(self, stream: Stream, step: form.Play) -> None:
        match = self.matches[step.play]
        played = 0
        while played < step.decisions or not step.decisions:
            messages = match.ask()
            await self._send_all(stream, messages, step.changes if messages else ())
            if not match.running:
                assert not step.decisions, f"{self._case.name}: {match.name} is already over"
                return
            match.answer(await self._reply(stream, match))
            played += 1

    async def _reject(self, stream: Stream, step: form.Reject) -> None:
        match = self.matches[step.reject]
        actions = await self._reply(stream, match)
        if step.reason == "unknown":
            await self._send(stream, match.reject("EMPTY", actions), ["unknown-values"])
        else:
            await self._send(stream, match.reject(step.reason, actions))

    async def _lose(self, stream: Stream, step: form.Lose) -> None:
        match = self.matches[step.lose]
        match.lose(await self._reply(stream, match))

    async def _update(self, stream: Stream, step: form.Update) -> None:
        match = self.matches[step.update]
        while (update := match.update()) is None:  # the program's turn is not over
            await self._send_all(stream, match.ask())
            match.answer(await self._reply(stream, match))
        await self._send(stream, update, step.changes)

    async def _finish(self, stream: Stream, step: form.Finish) -> None:
        await self._send_all(stream, self.matches[step.finish].finish(), step.changes)

    async def _void(self, stream: Stream, step: form.Void) -> None:
        await self._send_all(stream, self.matches[step.void].void())

    # Silence and ends

    async def _silence(self, stream: Stream, step: form.Silence) -> None:
        began = time.monotonic()
        if step.idle:
            watching = asyncio.create_task(self._program.busy_share(step.silence))
            await stream.silent(step.silence)
            share = await watching
            if share > _MOST_BUSY:
                raise CaseFailed(
                    f"a program that sleeps in {step.silence:g} s without messages",
                    f"it was running at {share:.0%} of the moments",
                )
        else:
            await stream.silent(step.silence)
        self._stage.check_no_other_stream()
        pings = self._stage.proxy.pings_since(began)
        if step.pings == "some" and not pings:
            raise CaseFailed(f"a ping within {step.silence:g} s of silence", "none")
        if step.pings == "none" and pings:
            raise CaseFailed("no ping on a Unix socket", f"{pings}")

    async def _drop(self, _: Stream, step: form.Drop) -> None:
        self._stage.lose_connections()
        self._stream_open = False
        count = len(self._stage.streams)
        began = time.monotonic()
        while len(self._stage.streams) == count:
            if time.monotonic() - began > step.drop:
                pinged = self._stage.proxy.pings_since(began)
                raise CaseFailed(
                    f"another connection within {step.drop:g} s of the loss of the first",
                    f"none, and {'a ping that stayed unanswered' if pinged else 'no ping'}",
                )
            await asyncio.sleep(0.1)

    def _before_end(self, stream: Stream) -> None:
        """Before a stream ends, check that the steps have left no request or stream unhandled."""
        stream.check_empty()
        if self._early:
            raise CaseFailed("no further reply", f"one in {next(iter(self._early))!r}")
        self._stage.check_no_other_stream()
        self._stream_open = False

    async def _end(self, stream: Stream, step: form.End) -> None:
        self._before_end(stream)
        status = grpc.StatusCode[step.end]
        stream.end(status, step.reason, step.detail)

    async def _cut(self, stream: Stream, step: form.Cut) -> None:
        self._before_end(stream)
        if step.away_s or step.for_good:
            self._stage.proxy.stop_listening()
        self._stage.proxy.break_connections()
        await asyncio.sleep(step.away_s)
        if step.away_s:
            await self._stage.proxy.listen()

    async def _goodbye(self, stream: Stream, _: form.Goodbye) -> None:
        self._before_end(stream)
        await self._send(stream, goodbye_bytes("the case is over"))
        stream.end(grpc.StatusCode.OK, "", "")


def _events(numbers: dict[str, int]) -> str:
    return ", ".join(f"{name}: {number}" for name, number in sorted(numbers.items())) or "none"
