"""The methods of the sidecar: one request line in, one answer line out."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any, Final, NamedTuple

from asara.v1.play_pb2 import PlayResponse
from asara.v1.view_pb2 import View as ViewMessage
from asara_codec.view_writer import ViewWriter
from asara_game import State, outcome
from asara_game.knowledge.shuffling import QuickShuffler
from asara_game.view import view
from asara_search.evaluation import evaluate
from asara_search.playout import LabelShuffler, play_on
from asara_search.policies import Policy
from asara_search.worlds import world

from .conversion import FORMS, Means, action_in_form, apply_all, message_in_form, read_action
from .match import MESSAGES, POLICIES, ReceivedMatch, read_message
from .request import Request, RequestError, quoted, read_request

__all__ = ["LIMITS", "LONGEST_LINE", "PROTOCOL_VERSION", "Sidecar", "too_long"]

PROTOCOL_VERSION = 1
LONGEST_LINE = 1 << 20
"""Maximum size of a request in bytes, without the end of the line."""
LIMITS: Final = {
    "line_bytes": LONGEST_LINE,
    "matches": 1_024,
    "states": 10_000,
    "states_per_request": 1_000,
    "playouts_per_request": 1_000,
    "actions_per_request": 100,
    "milliseconds": 600_000,
}
_UNTIL: Final = ("end", "year", "turn")
_LONGEST_ERROR: Final = 1_000  # characters

_Members = dict[str, Any]


class _Held(NamedTuple):
    """A state, together with the match it was sampled in."""

    state: State
    match: ReceivedMatch


class Sidecar:
    """Matches by name, states by number, and the methods that use them.

    `seed` is used by all requests that have no seed.
    """

    def __init__(self, seed: str | None = None) -> None:
        self._random = Random(os.urandom(32)) if seed is None else _seeded(seed)
        self._matches: dict[str, ReceivedMatch] = {}
        self._states: dict[int, _Held] = {}
        self._last_state = 0
        self._methods: dict[str, Callable[[Request], _Members]] = {
            "hello": self._hello,
            "observe": self._observe,
            "sample": self._sample,
            "legal_actions": self._legal_actions,
            "apply": self._apply,
            "copy": self._copy,
            "release": self._release,
            "outcome": self._outcome,
            "view": self._view,
            "evaluate": self._evaluate,
            "play_out": self._play_out,
        }

    @property
    def methods(self) -> Sequence[str]:
        return list(self._methods)

    def answer(self, line: bytes) -> str:
        """Return the answer to a line, without a line ending. Never raises."""
        identity: _Members = {}
        try:
            request = read_request(line)
            if "id" in request:
                identity = {"id": _identity(request)}
            return _line({**identity, **self._result(request)})
        except RequestError as error:
            return _failure(identity, str(error))
        except Exception as error:  # noqa: BLE001 - messages that no referee sends may break any rule
            return _failure(identity, f"the messages of the match contradict each other: {error!r}")

    def _result(self, request: Request) -> _Members:
        if "method" not in request and "type" in request:
            return self._observe_line(request)
        name = request.text("method")
        method = self._methods.get(name)
        if method is None:
            raise RequestError(f"no method {quoted(name)}; there is {', '.join(self._methods)}")
        try:
            return method(request)
        except ValueError as error:
            raise RequestError(f"{name}: {error}") from None

    # Matches

    def _hello(self, request: Request) -> _Members:
        version = request.integer("protocol_version", 0, 2**31, PROTOCOL_VERSION)
        request.check_read()
        if version != PROTOCOL_VERSION:
            raise RequestError(f"this sidecar speaks version {PROTOCOL_VERSION}, not {version}")
        return {
            "protocol_version": PROTOCOL_VERSION,
            "methods": self.methods,
            "policies": POLICIES,
            "limits": LIMITS,
        }

    def _observe_line(self, request: Request) -> _Members:
        """Process a line of `asara bridge`; the line's member `type` gives the kind of message."""
        name = request.text("type")
        if name not in MESSAGES:
            raise RequestError(f"type: no message {quoted(name)}; there is {', '.join(MESSAGES)}")
        response = PlayResponse()
        read_message(request.value(name), _part(response, name), name)
        return self._receive(response, name)

    def _observe(self, request: Request) -> _Members:
        names = [name for name in ("response", *MESSAGES) if name in request]
        if len(names) != 1:
            raise RequestError(f"one message is needed: response, or one of {', '.join(MESSAGES)}")
        name = names[0]
        value = request.value(name)
        request.check_read()
        response = PlayResponse()
        read_message(value, response if name == "response" else _part(response, name), name)
        kind = response.WhichOneof("response")
        if kind not in MESSAGES:
            raise RequestError(f"{name}: it contains none of {', '.join(MESSAGES)}")
        return self._receive(response, kind)

    def _receive(self, response: PlayResponse, kind: str) -> _Members:
        match_id = getattr(response, kind).match_id
        if not match_id:
            raise RequestError(f"{kind}: it has no match_id")
        found = self._matches.get(match_id)
        if found is None and kind == "match_started":
            if len(self._matches) >= LIMITS["matches"]:
                raise RequestError(
                    f"{LIMITS['matches']:,} matches are open, which is the limit; pass on each "
                    "match_ended, or release a match"
                )
            found = self._matches[match_id] = ReceivedMatch(response)
        elif found is None:
            raise RequestError(f"{kind}: unknown match {quoted(match_id)}; pass on match_started")
        elif kind == "match_ended":
            self._forget(match_id)
        else:
            known = len(found.messages)
            try:
                found.receive(response)
            except Exception:
                self._matches[match_id] = found.before(known)
                raise
        members = {"match_id": match_id, "seat": found.seat}
        if kind == "decision":
            members["decision_id"] = response.decision.decision_id
        return members

    def _match(self, request: Request) -> ReceivedMatch:
        """Return the match that the request gives, or the only match."""
        if "match_id" not in request and len(self._matches) == 1:
            return next(iter(self._matches.values()))
        if "match_id" not in request and not self._matches:
            raise RequestError("no match is open; pass on match_started")
        match_id = request.text("match_id")
        if match_id not in self._matches:
            raise RequestError(f"unknown match {quoted(match_id)}; pass on match_started")
        return self._matches[match_id]

    def _forget(self, match_id: str) -> int:
        """Drop a match and its states; return the number of states."""
        del self._matches[match_id]
        numbers = [n for n, held in self._states.items() if held.match.match_id == match_id]
        for number in numbers:
            del self._states[number]
        return len(numbers)

    # States

    def _sample(self, request: Request) -> _Members:
        match = self._match(request)
        count = request.integer("count", 1, LIMITS["states_per_request"], 1)
        seed = request.seed()
        wanted = request.decision_id()
        request.check_read()
        asked = match.decision
        if asked is None:
            raise RequestError(f"no decision of {match.match_id!r} yet; pass on each decision")
        if wanted and wanted != asked.decision_id:
            raise RequestError(
                f"decision {wanted} is not the last one of {match.match_id!r}, which is "
                f"{asked.decision_id}"
            )
        self._check_room(count)
        seed = self._drawn(seed)
        states = [world(asked, match, _seeded(f"{seed}/{n}")) for n in range(count)]
        return {"states": [self._add(_Held(state, match)) for state in states]}

    def _legal_actions(self, request: Request) -> _Members:
        state = self._state(request).state
        form = request.choice("form", FORMS, "text")
        request.check_read()
        return {**_asked(state), "legal": [action_in_form(action, form) for action in state.legal]}

    def _apply(self, request: Request) -> _Members:
        held = self._state(request)
        actions = self._actions(request)
        request.check_read()
        if not actions:
            raise RequestError("actions: at least one is needed")
        state = held.state
        if len(actions) > 1:  # a refusal in the middle changes nothing, not even the generator
            state = state.copy(deepcopy(state.shuffler))
        apply_all(state, actions)
        self._states[request.members["state"]] = held._replace(state=state)
        return _asked(state)

    def _copy(self, request: Request) -> _Members:
        held = self._state(request)
        count = request.integer("count", 1, LIMITS["states_per_request"], 1)
        seed = request.seed()
        request.check_read()
        self._check_room(count)
        seed = self._drawn(seed)
        return {
            "states": [
                self._add(_Held(_fresh(held.state, f"{seed}/{n}"), held.match))
                for n in range(count)
            ]
        }

    def _release(self, request: Request) -> _Members:
        if "match_id" in request:
            match = self._match(request)
            request.check_read()
            return {"released": self._forget(match.match_id)}
        numbers = request.list("states", LIMITS["states"])
        request.check_read()
        for number in set(map(self._known, numbers)):
            del self._states[number]
        return {"released": len(set(numbers))}

    def _outcome(self, request: Request) -> _Members:
        state = self._state(request).state
        request.check_read()
        found = outcome(state)
        if found is None:
            return {"over": False, "prestige": list(state.prestige), "winners": []}
        return {"over": True, "prestige": list(found.prestige), "winners": list(found.winners)}

    def _view(self, request: Request) -> _Members:
        held = self._state(request)
        seat = request.integer("seat", 0, held.match.rules.seats - 1, held.match.seat)
        form = request.choice("form", FORMS[1:], "json")
        request.check_read()
        message = ViewMessage.FromString(ViewWriter().view(view(held.state, seat)))
        return {"seat": seat, "view": message_in_form(message, form)}

    def _evaluate(self, request: Request) -> _Members:
        states = self._chosen(request)
        actions = self._actions(request)
        seed = request.seed()
        request.check_read()
        means = Means(states[0].match.rules.seats)
        seed = self._drawn(seed)
        for n, held in enumerate(states):
            state = _fresh(held.state, f"{seed}/{n}") if actions else held.state
            apply_all(state, actions)
            means.add(evaluate(state, held.match.estimator))
        return means.members()

    def _play_out(self, request: Request) -> _Members:
        """Play copies of states on, one round of all states after another."""
        states = self._chosen(request)
        actions = self._actions(request)
        most = LIMITS["playouts_per_request"]
        count = request.integer("count", 1, most, 1)
        policies = self._policies(request, states[0].match)
        until = request.choice("until", _UNTIL, _UNTIL[0])
        longest_ms = request.integer("milliseconds", 1, LIMITS["milliseconds"], 0)
        seed = request.seed()
        request.check_read()
        if count * len(states) > most:
            raise RequestError(
                f"count: {count:,} playouts of {len(states):,} states are more than {most:,}, the "
                "limit of a request"
            )
        seed = self._drawn(seed)
        deadline = time.monotonic() + longest_ms / 1_000 if longest_ms else float("inf")
        means = Means(states[0].match.rules.seats)
        decisions = 0
        for n in range(count * len(states)):
            held = states[n % len(states)]
            rng = _seeded(f"{seed}/{n}")
            # Of two actions with one seed, both meet the same deals later.
            state = held.state.copy(LabelShuffler(rng.getrandbits(62)))
            apply_all(state, actions)
            limits = {"last_year": held.state.year} if until == "year" else {}
            decisions += play_on(state, policies, rng, turn_only=until == "turn", **limits)
            means.add(evaluate(state, held.match.estimator))
            if time.monotonic() >= deadline:
                break
        return {**means.members(), "decisions": decisions}

    # Members of requests

    def _drawn(self, seed: str | None) -> str:
        """Return the request's seed, or a fresh one if the request has none."""
        return f"{self._random.getrandbits(128):x}" if seed is None else seed

    def _known(self, number: Any) -> int:
        if isinstance(number, bool) or not isinstance(number, int):
            raise RequestError(f"the number of a state is needed, not {quoted(number)}")
        if number not in self._states:
            raise RequestError(
                f"unknown state {quoted(number)}: never given, released, or of a match that is over"
            )
        return number

    def _state(self, request: Request) -> _Held:
        return self._states[self._known(request.value("state"))]

    def _chosen(self, request: Request) -> list[_Held]:
        """Return the requested states: at least one, and all from the same match."""
        numbers = request.list("states", LIMITS["states_per_request"])
        if not numbers:
            raise RequestError("states: at least one is needed")
        states = [self._states[self._known(number)] for number in numbers]
        if len({held.match.match_id for held in states}) > 1:
            raise RequestError("states: they are of different matches")
        return states

    def _actions(self, request: Request) -> list[Any]:
        return [
            read_action(each) for each in request.list("actions", LIMITS["actions_per_request"])
        ]

    def _policies(self, request: Request, match: ReceivedMatch) -> list[Policy]:
        """Return the policy of each seat, from one word for all or a list with one per seat."""
        value = request.members.get("policy", POLICIES[0])
        names = request.list("policy", 4) if isinstance(value, list) else [value]
        seats = match.rules.seats
        if not isinstance(value, list):
            names = [request.choice("policy", POLICIES, POLICIES[0])] * seats
        for name in names:
            if name not in POLICIES:
                raise RequestError(f"policy: no {quoted(name)}; there is {', '.join(POLICIES)}")
        if len(names) != seats:
            raise RequestError(f"policy: {len(names)} for {seats} seats")
        return [match.policies[name] for name in names]

    def _check_room(self, count: int) -> None:
        if len(self._states) + count > LIMITS["states"]:
            raise RequestError(
                f"{len(self._states):,} states are open, and the limit is {LIMITS['states']:,}; "
                "release some"
            )

    def _add(self, held: _Held) -> int:
        self._last_state += 1
        self._states[self._last_state] = held
        return self._last_state


def too_long() -> str:
    """Return the answer to a line longer than LONGEST_LINE bytes."""
    return _failure({}, f"the line has more than {LONGEST_LINE:,} bytes")


def _line(members: _Members) -> str:
    return json.dumps(members, separators=(",", ":"))


def _failure(identity: _Members, text: str) -> str:
    line = " ".join(text.split())
    if len(line) > _LONGEST_ERROR:
        line = f"{line[:_LONGEST_ERROR]}…"
    return _line({**identity, "error": line})


def _identity(request: Request) -> Any:
    value = request.value("id")
    if isinstance(value, bool) or not isinstance(value, int | str) or len(str(value)) > 100:
        raise RequestError("id: an integer or a string of at most 100 characters is needed")
    return value


def _part(response: PlayResponse, name: str) -> Any:
    """Return a message in a response. The field is set even if the message is empty."""
    part = getattr(response, name)
    part.SetInParent()
    return part


def _asked(state: State) -> _Members:
    """Return who has to decide, and what; the seat is -1 after the end."""
    if state.seat < 0:
        return {"over": True, "seat": -1, "kind": "DECISION_KIND_UNSPECIFIED"}
    return {"over": False, "seat": state.seat, "kind": f"DECISION_KIND_{state.kind.name}"}


def _fresh(state: State, seed: str) -> State:
    """Return a copy of a state whose later shuffles come from a seed."""
    return state.copy(QuickShuffler(_seeded(seed)))


def _seeded(seed: str) -> Random:
    """Return a generator for a seed, which may contain text that UTF-8 cannot encode."""
    return Random(seed.encode("utf-8", "surrogatepass"))
