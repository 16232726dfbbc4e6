"""The interface of a bot: a subclass of `Bot`, or a function if the bot needs no memory."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from google.protobuf.message import Message

from asara.author_code import caller_place, signature_fault
from asara.errors import BotError
from asara.random_choice import random_index
from asara.v1.event_pb2 import Event
from asara.v1.play_pb2 import (
    Clocks,
    Decision,
    Limits,
    MatchEnded,
    MatchStarted,
    PlayResponse,
    Rejection,
)
from asara.v1.view_pb2 import View
from asara.v1.vocabulary_pb2 import Action, Edition, RuleSet
from asara.verifier import Verifier

if TYPE_CHECKING:
    from random import Random

_LONGEST_VALUE = 80  # characters, in messages

Answer: TypeAlias = Action | Sequence[Action]
"""One of `decision.legal_actions`, or several actions in order, up to the end of the turn."""


class Match:
    """A match as seen from one bot's seat. A bot may add its own attributes."""

    def __init__(
        self, started: MatchStarted, entry: str, limits: Limits, seed: str, verifier: Verifier
    ) -> None:
        self._started = started
        self._entry = entry
        self._limits = limits
        self._rule_sets = frozenset(started.rule_sets)
        self._seed = seed
        self._random: Random | None = None
        self._verifier = verifier
        self._events: list[Event] = []
        self._events_read = 0  # number of messages whose events are included
        self._sequence = started.sequence

    # Properties, because help() shows their docstrings.

    @property
    def match_id(self) -> str:
        """Name of the match."""
        return self._started.match_id

    @property
    def seat(self) -> int:
        """This bot's seat, 0 to `seats` - 1."""
        return self._started.seat

    @property
    def seats(self) -> int:
        """Number of seats."""
        return self._started.seats

    @property
    def rule_sets(self) -> frozenset[RuleSet]:
        """Rule sets of the match, such as `asara.RuleSet.RULE_SET_GIFTS`."""
        return self._rule_sets

    @property
    def edition(self) -> Edition:
        """Prices, spaces, tile counts and awards, which may differ between editions."""
        return self._started.edition

    @property
    def clocks(self) -> Clocks:
        """Time limits in microseconds."""
        return self._started.clocks

    @property
    def view(self) -> View:
        """The seat's view when the match started; each decision carries a newer view."""
        return self._started.view

    @property
    def entry(self) -> str:
        """Name of this bot's entry in the match or tournament."""
        return self._entry

    @property
    def limits(self) -> Limits:
        """Limits that the referee enforces."""
        return self._limits

    @property
    def random(self) -> Random:
        """Random numbers that depend only on ASARA_SEED, the match and the seat."""
        if self._random is None:
            from random import Random

            self._random = Random(repr((self._seed, self.match_id, self.seat)))
        return self._random

    def random_action(self, decision: Decision) -> Action:
        """Return one of the legal actions, chosen by the rule that bots in every language share.

        The choice depends only on ASARA_SEED, the match, the seat and the decision, so repeating
        the call returns the same action.
        """
        legal = decision.legal_actions
        choice = (self._seed, self.match_id, self.seat, decision.decision_id, len(legal))
        return legal[random_index(*choice)]

    @property
    def started(self) -> MatchStarted:
        """The message MatchStarted, which also contains the deal's commitment and `resumed`."""
        return self._started

    @property
    def messages(self) -> Sequence[bytes]:
        """All messages of the match so far: the bytes of each PlayResponse, as received.

        A forward model reads them (see `asara_search.world`). The messages are kept until the match
        ends.
        """
        return self._verifier.messages

    @property
    def events(self) -> Sequence[Event]:
        """All events since the first `view`, each exactly once and in order.

        Some events are missing if the match was resumed (`started.resumed`) or the stream broke.
        """
        messages = self._verifier.messages
        while self._events_read < len(messages):
            message = messages[self._events_read]
            self._events_read += 1
            self._read_events(PlayResponse.FromString(message))
        return self._events

    def _read_events(self, response: PlayResponse) -> None:
        kind = response.WhichOneof("response")
        if kind == "update" or kind == "decision" or kind == "match_ended":
            part = getattr(response, kind)
            new = part.sequence - self._sequence
            if new > 0:
                self._sequence = part.sequence
                self._events += part.events[-new:]

    @property
    def digest(self) -> bytes:
        """SHA-256 digest of the match's messages received so far, 32 bytes.

        At the end, it equals this seat's digest in the replay, unless messages were lost when the
        stream broke.
        """
        return self._verifier.digest


class Bot(ABC):
    """Plays one seat of one match; every match gets its own instance.

    Instances are created without arguments. `match` is set after `__init__` and before `started`.
    All methods are called from the main thread, one at a time: while a bot decides in one match,
    the clocks of its other matches run.
    """

    match: Match

    @abstractmethod
    def decide(self, decision: Decision) -> Answer:
        """Return one of `decision.legal_actions`, or a list of actions that begins with one.

        The other actions in the list are applied in order while each is legal. The first illegal
        one ends the list without penalty, and the next decision is requested as usual. Called once
        per decision.
        """

    def started(self) -> None:  # noqa: B027 - a hook, not a duty
        """Called when the match starts, or resumes in a new process (`match.started.resumed`)."""

    def updated(self, events: Sequence[Event]) -> None:  # noqa: B027 - a hook, not a duty
        """Called with new events, each exactly once and in order, before the next decision.

        Events arrive with decisions and with the result. With `live_updates`, they arrive after
        every turn.
        """

    def rejected(self, decision: Decision, rejection: Rejection) -> Answer:
        """Return another answer after a rejection; only a few rejections are forgiven per match.

        The default is the first legal action.
        """
        return rejection.legal_actions[0]

    def ended(self, result: MatchEnded) -> None:  # noqa: B027 - a hook, not a duty
        """Called with the result; `result.results` has one entry per seat, in seat order."""


DecideFunction: TypeAlias = Callable[[Decision, Match], Answer]


class _FunctionBot(Bot):
    def __init__(self, function: DecideFunction) -> None:
        self.function = function

    def decide(self, decision: Decision) -> Answer:
        return self.function(decision, self.match)


_CALLS = (
    "decide(self, decision)",
    "started(self)",
    "updated(self, events)",
    "rejected(self, decision, rejection)",
    "ended(self, result)",
)
"""The methods of a bot, with their arguments."""


def author_function(bot: Bot) -> Callable[..., Answer]:
    """Return the author's function or method that decides."""
    return bot.function if isinstance(bot, _FunctionBot) else bot.decide


def bot_factory(bot: type[Bot] | DecideFunction) -> Callable[[], Bot]:
    """Return a function that creates a bot for each match.

    Raise BotError if `run` cannot use `bot`.
    """
    if isinstance(bot, type):
        fault = _class_fault(bot)
    elif isinstance(bot, Bot):
        name = type(bot).__name__
        fault = _call_fault(f"pass the class {name}, not an instance: every match gets its own")
    elif not callable(bot):
        fault = _call_fault(_unfit(bot))
    else:
        fault = signature_fault(bot, "decide(decision, match)")
    if fault:
        raise BotError(fault)
    return bot if isinstance(bot, type) else lambda: _FunctionBot(bot)


def _unfit(bot: object) -> str:
    """Explain what is wrong with an object that is neither a class nor callable."""
    expected = "expected a subclass of asara.Bot or a function"
    kind = type(bot)
    if kind.__module__ == "builtins" or isinstance(bot, Message):
        text = kind.__name__ if isinstance(bot, Message) else " ".join(repr(bot).split())
        text = text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
        return f"{expected}, not {text}; write `asara.run(decide)`, without `()` after the name"
    name = kind.__name__
    return (
        f"{expected}, not an object of the class {name}; write `class {name}(asara.Bot):` with "
        f"a method `def decide(self, decision):`, and pass the class: `asara.run({name})`"
    )


def _class_fault(bot: type[Bot]) -> str:
    if not issubclass(bot, Bot):
        name = bot.__name__
        return _call_fault(f"{name} must be a subclass of asara.Bot: `class {name}(asara.Bot):`")
    if inspect.isabstract(bot):
        return _call_fault(f"{bot.__name__} needs a method: def decide(self, decision)")
    for call in _CALLS:
        method = inspect.getattr_static(bot, call.partition("(")[0])
        if inspect.isfunction(method) and (fault := signature_fault(method, call)):
            return fault
    return signature_fault(bot.__init__, "__init__(self)")


def _call_fault(text: str) -> str:
    """Describe a wrong call of this package, including the line of the call."""
    return f"{caller_place()}: {text}"
