"""A bot that passes every message to the author's program as a JSON line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from google.protobuf.message import Message

from asara.bot import Answer, Bot
from asara.bridge.answer import AnswerError, read_answer
from asara.bridge.message_json import message_json
from asara.bridge.program import Program, quoted
from asara.errors import BotError
from asara.text import format_action
from asara.v1.event_pb2 import Event
from asara.v1.play_pb2 import Decision, MatchEnded, Rejection
from asara.v1.vocabulary_pb2 import Action

_WithEvents: TypeAlias = Decision | MatchEnded


class BridgeBot(Bot):
    """Plays one seat of one match. All matches share one program, which a subclass sets."""

    program: Program

    def started(self) -> None:
        self._events: list[Event] = []
        self._notify("match_started", self.match.started)

    def updated(self, events: Sequence[Event]) -> None:
        self._events.extend(events)

    def decide(self, decision: Decision) -> Answer:
        legal = decision.legal_actions
        texts = [format_action(action) for action in legal]
        chosen = texts.index(format_action(self.match.random_action(decision)))
        listed = ",".join(f'"{text}"' for text in texts)
        extra = f'"legal":[{listed}],"random_index":{chosen},'
        question = f"decision {decision.decision_id} of {self.match.match_id}"
        limit_s = (decision.clock_us + self.match.clocks.grace_us) / 1e6
        line = self._line("decision", self._with_new_events(decision), extra)
        answer = self.program.ask(line, question, limit_s if decision.clock_us else 0.0)
        return self._read(answer, legal, texts, question)

    def rejected(self, decision: Decision, rejection: Rejection) -> Answer:
        self._notify("rejection", rejection)
        return super().rejected(decision, rejection)

    def ended(self, result: MatchEnded) -> None:
        self._notify("match_ended", self._with_new_events(result))

    def _notify(self, kind: str, message: Message) -> None:
        self.program.notify(self._line(kind, message), f"{kind} of {self.match.match_id}")

    def _line(self, kind: str, message: Message, extra: str = "") -> str:
        match_id = json.dumps(self.match.match_id, ensure_ascii=False)
        return (
            f'{{"type":"{kind}","match_id":{match_id},"seat":{self.match.seat},{extra}'
            f'"{kind}":{message_json(message)}}}'
        )

    def _with_new_events(self, message: _WithEvents) -> _WithEvents:
        """Return a message with the events that the program has not received yet.

        These are the message's own events, unless the connection has broken since the last message.
        """
        events, self._events = self._events, []
        if len(events) == len(message.events):
            return message
        complete: Any = type(message)()
        complete.CopyFrom(message)
        del complete.events[:]
        complete.events.extend(events)
        return cast("_WithEvents", complete)

    def _read(
        self, answer: bytes, legal: Sequence[Action], texts: Sequence[str], question: str
    ) -> Answer:
        try:
            return read_answer(answer, legal, texts)
        except AnswerError as error:
            raise BotError(
                f"{self.program.name}: {question}: it answered {quoted(answer)}: {error}; print "
                f"an index from 0 to {len(legal) - 1}, or the text of an action, such as "
                f"{texts[0]!r}, and everything else to standard error"
            ) from None
