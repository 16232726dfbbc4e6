"""Samples worlds from the messages a seat has received: the client's match and a decision."""

from __future__ import annotations

import random
from typing import Final
from weakref import WeakKeyDictionary

from asara.v1.play_pb2 import Decision as DecisionMessage
from asara.v1.play_pb2 import PlayResponse
from asara_codec.decode import event_from_proto
from asara_codec.editions import rules_from_proto
from asara_codec.reflection import CodecError
from asara_codec.results import SeatForfeited
from asara_codec.view_reader import view_from_proto
from asara_game import History, State, View
from asara_game import Worlds as GameWorlds
from asara_game.knowledge.shuffling import QuickShuffler

from .match_messages import MatchMessages

__all__ = ["Worlds", "copy", "history", "view", "world"]


class Worlds:
    """States that the seat cannot tell from the true one, for one decision.

    Facts shared by all states are computed once, so `sample` is faster than `world`. Raise
    ValueError if the decision is not this seat's latest decision in the match.

    - `view`: the view of the decision, in the engine's types
    - `exact`: True if states fit everything seen in the match; False if messages were missed, for
      example after a resumption, so that states fit the view alone
    """

    def __init__(self, decision: DecisionMessage, match: MatchMessages) -> None:
        self.view = view(decision, match)
        self._worlds = GameWorlds(self.view, _knowledge_at(decision, match).history)
        self.exact = self._worlds.exact

    def sample(self, rng: random.Random) -> State:
        """Sample another state; hidden parts and all later shuffles come from `rng`."""
        _check_rng(rng)
        return self._worlds.sample(rng)


def world(decision: DecisionMessage, match: MatchMessages, rng: random.Random) -> State:
    """Return a complete state that the seat cannot tell from the true one.

    The state fits everything that the seat has been sent in the match. Hidden parts and later
    shuffles come from `rng`. Raise ValueError if the decision is not this seat's latest decision in
    the match.
    """
    knowledge = _knowledge_at(decision, match)
    if knowledge.decision_id != decision.decision_id or knowledge.worlds is None:
        knowledge.worlds = Worlds(decision, match)
        knowledge.decision_id = decision.decision_id
    return knowledge.worlds.sample(rng)


def copy(state: State, rng: random.Random) -> State:
    """Return an independent copy whose later shuffles come from `rng`.

    Copies that share one `rng` stay independent: each takes the next numbers from it.
    """
    _check_rng(rng)
    return state.copy(QuickShuffler(rng))


def _check_rng(rng: random.Random) -> None:
    if not hasattr(rng, "random"):
        raise TypeError(
            f"rng: a generator such as match.random is needed, not {type(rng).__name__}"
        )


def view(decision: DecisionMessage, match: MatchMessages) -> View:
    """Return the view of a decision in the engine's types. Raise ValueError if it is invalid."""
    _check(decision, match)
    if not decision.view.HasField("public_view"):
        raise ValueError(
            "the decision has no public view: run the bot without omit_public_view to use worlds"
        )
    return view_from_proto(rules_from_proto(match.started), decision)


def history(match: MatchMessages) -> History:
    """Return everything that the seat has seen of a match so far, in the engine's types."""
    return _knowledge(match).history


class _Knowledge:
    """A match, as far as its messages have been read."""

    def __init__(self, match: MatchMessages) -> None:
        started = match.started
        self.rules = rules_from_proto(started)
        self.history = _first_history(match)
        self.read = 0
        self.sequence = started.sequence
        self.last_decision = 0
        self.decision_id = 0
        """Decision that `worlds` belongs to."""
        self.worlds: Worlds | None = None

    def follow(self, match: MatchMessages) -> None:
        """Read the messages that have arrived since the last call."""
        messages = match.messages
        while self.read < len(messages):
            message = messages[self.read]
            self.read += 1
            response = PlayResponse.FromString(message)
            kind = response.WhichOneof("response")
            if kind == "decision":
                self._add_events(response.decision)
                self.last_decision = response.decision.decision_id
                self._look(response.decision)
            elif kind == "update" or kind == "match_ended":
                self._add_events(getattr(response, kind))

    def _add_events(self, message: DecisionMessage) -> None:
        """Add the new events. A reconnection may repeat events, or leave some out."""
        new = message.sequence - self.sequence
        if new <= 0 or not self.history.complete:
            return
        self.sequence = message.sequence
        if new > len(message.events):
            self.history.interrupt()
            return
        try:
            events = [event_from_proto(event) for event in message.events[-new:]]
        except CodecError:  # a newer referee may have sent them
            self.history.interrupt()
            return
        self.history.add([event for event in events if not isinstance(event, SeatForfeited)])

    def _look(self, message: DecisionMessage) -> None:
        rules = self.rules
        if self.history.complete and (rules.professional or rules.gifts):
            if message.view.HasField("public_view"):
                self.history.look(view_from_proto(rules, message))
            else:
                self.history.interrupt()


def _first_history(match: MatchMessages) -> History:
    started = match.started
    rules = rules_from_proto(started)
    if started.resumed or not started.view.HasField("public_view"):
        found = History(rules, started.seat)
        found.interrupt()
        return found
    return History.from_view(view_from_proto(rules, started))


_known: Final[WeakKeyDictionary[MatchMessages, _Knowledge]] = WeakKeyDictionary()


def _knowledge(match: MatchMessages) -> _Knowledge:
    knowledge = _known.get(match)
    if knowledge is None:
        knowledge = _known[match] = _Knowledge(match)
    knowledge.follow(match)
    return knowledge


def _knowledge_at(decision: DecisionMessage, match: MatchMessages) -> _Knowledge:
    _check(decision, match)
    knowledge = _knowledge(match)
    if decision.decision_id != knowledge.last_decision:
        raise ValueError(
            f"decision {decision.decision_id} is not the last one of {match.match_id}, which is "
            f"{knowledge.last_decision}: pass the decision that the bot is asked"
        )
    return knowledge


def _check(decision: DecisionMessage, match: MatchMessages) -> None:
    if not isinstance(decision, DecisionMessage):
        raise TypeError(
            f"decision: the first argument of `decide` is needed, not {type(decision).__name__}"
        )
    if not hasattr(match, "messages"):
        raise TypeError(
            "match: the second argument of `decide`, or `self.match` of a bot that is a class, is "
            f"needed, not {type(match).__name__}"
        )
    if decision.match_id != match.match_id:
        raise ValueError(
            f"the decision belongs to match {decision.match_id!r}, not to {match.match_id!r}"
        )
    seat = decision.view.private_view.seat
    if seat != match.seat:
        raise ValueError(f"the decision belongs to seat {seat}, not to seat {match.seat}")
