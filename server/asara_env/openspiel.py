"""The game in OpenSpiel: importing this module registers `asara`.

    import pyspiel
    from asara_env import openspiel

    game = pyspiel.load_game("asara(rules=pro+gifts,players=3)")

All randomness is in explicit chance nodes. Before the deal, and before every action that deals or
draws something hidden, there are four chance nodes with 256 outcomes each. Together they decide 32
bits, from which every order that no seat knows is derived. A state therefore does not contain the
future: clones are exact, and their later deals depend on later outcomes. Like other OpenSpiel
states, a state contains the seats' hidden information, and `resample_from_infostate` redraws it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from asara_game import (
    Action,
    Deal,
    Event,
    Rules,
    State,
    apply,
    determinize,
    new_match,
    outcome,
    view,
)
from asara_game.state import lit_colour

from .action_numbers import ACTION_COUNT, action_of, legal_numbers
from .episode import IllegalActionNumber, match_rules
from .missing_library import missing
from .observation import OBSERVATION_SIZE, observe
from .render import private_text, public_text, view_text
from .rewards import reward_function

try:
    import pyspiel
except ImportError as error:
    raise missing("OpenSpiel (pyspiel)", "openspiel") from error

__all__ = ["AsaraGame", "AsaraState"]

_DRAWS: Final = 4
_OUTCOMES: Final = 256
_CHANCES: Final = [(outcome_, 1 / _OUTCOMES) for outcome_ in range(_OUTCOMES)]
_MOST_PRESTIGE: Final = 1_000
_MOST_DECISIONS: Final = 4_000
"""Maximum number of decisions: more than 45 buyers can cause in four years."""
_DEFAULTS: Final = {"rules": "basic", "players": 2, "reward": "rank"}

_GAME_TYPE: Final = pyspiel.GameType(
    short_name="asara",
    long_name="Asara",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=4,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=True,
    parameter_specification=_DEFAULTS,
)


@lru_cache(maxsize=32)
def _rules(rules: str, players: int) -> Rules:
    return match_rules(rules, players)


class AsaraGame(pyspiel.Game):  # type: ignore[misc]
    """Parameters: `rules`, such as `pro+gifts`; `players`; and `reward`, `rank` or `prestige`."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {**_DEFAULTS, **(params or {})}
        self.rules = _rules(given["rules"], given["players"])
        self.reward = reward_function(given["reward"])
        most = 1.0 if given["reward"] == "rank" else float(_MOST_PRESTIGE)
        info = pyspiel.GameInfo(
            num_distinct_actions=ACTION_COUNT,
            max_chance_outcomes=_OUTCOMES,
            num_players=given["players"],
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=_MOST_DECISIONS,
        )
        super().__init__(_GAME_TYPE, info, params or {})

    def new_initial_state(self) -> AsaraState:
        return AsaraState(self)

    def max_chance_nodes_in_history(self) -> int:
        return _DRAWS * _MOST_DECISIONS

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> _Observer:
        if params:
            raise ValueError(f"observation parameters {sorted(params)}: there are none")
        return _Observer(iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))


class _Past:
    """Everything a player has seen before now: a chain of facts, and its digest."""

    __slots__ = ("_digest", "_fact", "_last")

    def __init__(self, last: _Past | None, fact: tuple[Any, ...]) -> None:
        self._last = last
        self._fact = fact
        self._digest = ""

    def digest(self) -> str:
        """Return the SHA-256 of all facts as hexadecimal digits."""
        chain = []
        link: _Past | None = self
        while link is not None and not link._digest:
            chain.append(link)
            link = link._last
        digest = link._digest if link is not None else ""
        for link in reversed(chain):
            digest = hashlib.sha256(f"{digest}{link._fact!r}".encode()).hexdigest()
            link._digest = digest
        return digest


_START: Final = _Past(None, ("start",))
_RESAMPLED: Final = _Past(None, ("resampled",))


class _Core(NamedTuple):
    """All of a state except OpenSpiel's own part. It never changes, so clones share it."""

    state: State | None
    """None before the deal."""
    past: tuple[_Past, ...]
    """One entry per player."""
    waiting: Action | None
    """The action to carry out after the chance nodes."""
    draws: tuple[int, ...] | None
    """The outcomes of the chance nodes so far; None at a decision and at the end."""

    def __deepcopy__(self, memo: dict[int, Any]) -> _Core:
        return self


class _NoShuffle:
    """Leaves items in order: chance nodes decide every order before it matters."""

    def shuffle(self, label: str, items: list[int]) -> None:
        pass

    def __reduce__(self) -> tuple[type[_NoShuffle], tuple[()]]:
        return _NoShuffle, ()


_NO_SHUFFLE: Final = _NoShuffle()


class AsaraState(pyspiel.State):  # type: ignore[misc]
    """A state at a decision, at a chance node, or at the end."""

    def __init__(self, game: AsaraGame) -> None:
        super().__init__(game)
        self.core = _Core(None, (_START,) * game.num_players(), None, ())

    def current_player(self) -> int:
        core = self.core
        if core.draws is not None:
            return int(pyspiel.PlayerId.CHANCE)
        if core.state is None or core.state.seat < 0:
            return int(pyspiel.PlayerId.TERMINAL)
        return core.state.seat

    def _legal_actions(self, player: int) -> list[int]:
        state = self.core.state
        if state is None or state.seat != player:
            return []
        return sorted(legal_numbers(state))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return _CHANCES

    def _apply_action(self, number: int) -> None:
        core = self.core
        if core.draws is not None:
            self._draw(number)
            return
        state = core.state
        if state is None or state.seat < 0:
            raise IllegalActionNumber(f"action number {number}: the match is over")
        if number not in legal_numbers(state):
            raise IllegalActionNumber(
                f"action number {number} is not legal at decision {state.kind.name} "
                f"of player {state.seat}"
            )
        action = action_of(number, state)
        after = state.copy(_NO_SHUFFLE)
        events = apply(after, action)
        if _deals(state, after):
            self.core = core._replace(waiting=action, draws=())
        else:
            self.core = _Core(after, _remember(core.past, state, action, events), None, None)

    def _draw(self, number: int) -> None:
        """Record a chance outcome; after the last chance node, carry out the waiting action."""
        core = self.core
        if not 0 <= number < _OUTCOMES:
            raise ValueError(f"chance outcome {number}: the outcomes are 0 to {_OUTCOMES - 1}")
        draws = (*(core.draws or ()), number)
        if len(draws) < _DRAWS:
            self.core = core._replace(draws=draws)
            return
        deal = Deal(hashlib.sha256(bytes(draws)).digest())
        state = core.state
        if state is None:
            after, events = new_match(self.get_game().rules, deal)
            self.core = _Core(after, core.past, None, None)
            return
        assert core.waiting is not None
        after = state.copy(deal)
        _shuffle_unknown(after, deal)
        events = apply(after, core.waiting)
        self.core = _Core(after, _remember(core.past, state, core.waiting, events), None, None)

    def _action_to_string(self, player: int, number: int) -> str:
        if player == pyspiel.PlayerId.CHANCE or self.core.state is None:
            return f"chance {number}"
        return str(action_of(number, self.core.state))

    def is_terminal(self) -> bool:
        core = self.core
        return core.draws is None and core.state is not None and core.state.seat < 0

    def returns(self) -> list[float]:
        if not self.is_terminal():
            return [0.0] * self.num_players()
        result = outcome(self.core.state) if self.core.state is not None else None
        assert result is not None
        rewards: list[float] = self.get_game().reward(result.prestige)
        return rewards

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> AsaraState:
        """Return a state that the player cannot tell from this one; hidden parts are dealt anew.

        The other players' pasts are dropped and OpenSpiel's history is empty, because both would
        reveal what the player does not know.
        """
        state = self.core.state
        if state is None or self.core.draws is not None:
            raise ValueError("a state is resampled at a decision, not at a chance node")
        _check_player(state, player)
        rng = random.Random(int(sampler() * 2**53))
        world = determinize(view(state, player), rng)
        past = tuple(
            own if seat == player else _RESAMPLED for seat, own in enumerate(self.core.past)
        )
        new: AsaraState = self.get_game().new_initial_state()
        new.core = _Core(world, past, None, None)
        return new

    def __str__(self) -> str:
        """Return everything as text, for debugging; equal states have equal texts."""
        core = self.core
        draws = "" if core.draws is None else f"\nchance {' '.join(map(str, core.draws))}"
        if core.state is None:
            return f"before the deal{draws}"
        waiting = f"\nthen {core.waiting}" if core.waiting is not None else ""
        seats = (view(core.state, seat) for seat in range(self.num_players()))
        hidden = "\n".join(map(private_text, seats))
        return f"{public_text(view(core.state, 0).public)}\n{hidden}{waiting}{draws}"


def _check_player(state: State, player: int) -> None:
    """Raise ValueError if the match has no such player."""
    if not 0 <= player < state.rules.seats:
        raise ValueError(f"player {player}: the players are 0 to {state.rules.seats - 1}")


def _deals(before: State, after: State) -> bool:
    """Return True if the action between two states dealt or drew something hidden."""
    return (
        after.year != before.year
        or len(after.buyer_pile) < len(before.buyer_pile)
        or len(after.lit_stack) < len(before.lit_stack)
    )


def _shuffle_unknown(state: State, deal: Deal) -> None:
    """Shuffle everything whose order no seat knows."""
    for market, pile in enumerate(state.piles):
        deal.shuffle(f"order/{market}", pile)
    deal.shuffle("order/buyers", state.buyer_pile)
    deal.shuffle("order/gifts", state.gift_deck)
    stack = state.lit_stack
    places = [index for index, window in enumerate(stack) if window == lit_colour(window)]
    windows = [stack[index] for index in places]
    deal.shuffle("order/lit-windows", windows)
    for index, window in zip(places, windows, strict=True):
        stack[index] = window


def _remember(
    past: Sequence[_Past], state: State, action: Action, events: Sequence[Event]
) -> tuple[_Past, ...]:
    """Add the events to each player's past, plus action and view for the deciding player."""
    public = ("events", tuple(events))
    private = ("own", view(state, state.seat).private, action, tuple(events))
    return tuple(
        _Past(own, private if seat == state.seat else public) for seat, own in enumerate(past)
    )


class _Observer:
    """OpenSpiel observations: the tensor of `asara_env.observation`, or text.

    OpenSpiel's core joins the arrays in `dict` to form `state.observation_tensor`. The parts of an
    observation are interleaved by seat, so `dict` contains the whole tensor as one array;
    `as_dictionary` returns its parts.
    """

    def __init__(self, kind: Any) -> None:
        self._recall: bool = kind.perfect_recall
        self._public: bool = kind.public_info
        self._private: bool = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        whole = self._public and self._private and not self._recall
        tensor = np.zeros(OBSERVATION_SIZE, np.float32)
        self.tensor: Any = tensor if whole else None
        self.dict: dict[str, Any] = {"observation": tensor} if whole else {}

    def set_from(self, state: AsaraState, player: int) -> None:
        """Write a player's observation into `tensor`; all zeros before the deal."""
        if self.tensor is None:
            return
        inner = state.core.state
        if inner is None:
            self.tensor[:] = 0
            return
        _check_player(inner, player)
        self.tensor[:] = observe(view(inner, player))

    def string_from(self, state: AsaraState, player: int) -> str:
        """Return what a player knows; with perfect recall, also a digest of everything seen."""
        inner = state.core.state
        if inner is None:
            return "before the deal"
        _check_player(inner, player)
        seen = view(inner, player)
        if self._recall and self._private:
            return f"{state.core.past[player].digest()}\n{view_text(seen)}"
        parts = []
        if self._public:
            parts.append(public_text(seen.public))
        if self._private:
            parts.append(private_text(seen))
        return "\n".join(parts)


pyspiel.register_game(_GAME_TYPE, AsaraGame)
