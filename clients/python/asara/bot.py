"""What an author writes: a `Bot`, or a function where nothing is remembered between decisions."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

from asara.v1.event_pb2 import Event
from asara.v1.play_pb2 import Decision, Limits, MatchEnded, MatchStarted, Rejection
from asara.v1.vocabulary_pb2 import Action
from asara.witness import Witness

Answer: TypeAlias = Action | Sequence[Action]
"""One action of the legal list, or several in order, up to the end of the turn."""


class Match:
    """A match that this bot plays, from its own seat."""

    def __init__(
        self, started: MatchStarted, entry: str, limits: Limits, seed: str, witness: Witness
    ) -> None:
        self.started = started
        """The referee's own words: also the edition's SHA-256, the deal commitment, `resumed`."""
        self.match_id = started.match_id
        self.seat = started.seat
        """This bot's seat, 0 to `seats` - 1."""
        self.seats = started.seats
        self.rule_sets = frozenset(started.rule_sets)
        """`asara.RuleSet.RULE_SET_GIFTS in match.rule_sets` asks for one."""
        self.edition = started.edition
        """Prices, spaces, tile counts, awards: all numbers that the rules leave open."""
        self.clocks = started.clocks
        self.view = started.view
        """What the seat could know when the match began. Decisions carry newer views."""
        self.entry = entry
        """Name under which the referee has entered this bot."""
        self.limits = limits
        self.random = Random(repr((seed, self.match_id, self.seat)))
        """Repeats itself with the same ASARA_SEED, whatever else this process plays."""
        self._witness = witness

    @property
    def digest(self) -> bytes:
        """Of all messages of the match so far; at the end the replay has the same for this seat.

        Not where the stream broke: what was lost on the way is missing here.
        """
        return self._witness.digest


class Bot(ABC):
    """Plays one seat of one match; every match gets an instance of its own.

    An instance is made with no arguments. `match` is set after `__init__` and before `started`.
    All calls come from the main thread, one at a time, also with several matches at once: while
    one match thinks, the others' clocks run.
    """

    match: Match

    @abstractmethod
    def decide(self, decision: Decision) -> Answer:
        """Answer with one of `decision.legal_actions`, or with it and the ones to follow.

        Several actions are applied in order while each is legal. The first that is not ends the
        list without penalty, and the next decision is asked as usual. Called once per decision.
        """

    def started(self) -> None:  # noqa: B027 - a hook, not a duty
        """The match begins, or this process joins it late (`match.started.resumed`)."""

    def updated(self, events: Sequence[Event]) -> None:  # noqa: B027 - a hook, not a duty
        """Hear what happened, before the decision that follows; every event once, in order.

        Comes with decisions and the end, or after every turn where `live_updates` is on.
        """

    def rejected(self, decision: Decision, rejection: Rejection) -> Answer:
        """Answer again after a reply that the referee refused; a few are forgiven per match.

        The first legal action, unless overridden: the clock runs and the match goes on.
        """
        return rejection.legal_actions[0]

    def ended(self, result: MatchEnded) -> None:  # noqa: B027 - a hook, not a duty
        """The match is over; `result.results` has one entry per seat, in seat order."""


DecideFunction: TypeAlias = Callable[[Decision, Match], Answer]


class _FunctionBot(Bot):
    def __init__(self, function: DecideFunction) -> None:
        self._function = function

    def decide(self, decision: Decision) -> Answer:
        return self._function(decision, self.match)


def bot_maker(bot: type[Bot] | DecideFunction) -> Callable[[], Bot]:
    """Turn what the author passed to `run` into a maker of one bot per match; raises TypeError."""
    if isinstance(bot, type):
        if not issubclass(bot, Bot):
            raise TypeError(f"{bot.__name__} must be a subclass of asara.Bot")
        if inspect.isabstract(bot):
            raise TypeError(f"{bot.__name__} needs a method: def decide(self, decision)")
        return bot
    if isinstance(bot, Bot):
        name = type(bot).__name__
        raise TypeError(f"pass the class {name}, not an instance: every match gets its own")
    if not callable(bot):
        raise TypeError(f"expected a subclass of asara.Bot or a function, not {bot!r}")
    return lambda: _FunctionBot(bot)
