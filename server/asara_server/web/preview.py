"""Previews and hints for a person's turn, computed only from what the seat was sent.

A preview shows the rest of the turn. A request contains the seat's open decision, so only who holds
the seat can ask. There are no hints where nobody plays in a browser, and so none in a tournament.

A request comes from a browser and may contain anything. It is checked before the rules see it, so
that the work it can cause is limited. Sizes and numbers must stay within the limits for editions.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError, Message
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from asara.v1.play_pb2 import Decision as DecisionMessage
from asara.v1.play_pb2 import PlayResponse
from asara.v1.preview_pb2 import PreviewEnd, PreviewRequest, PreviewResponse
from asara.v1.view_pb2 import View as ViewMessage
from asara_codec.decode import action_from_proto
from asara_codec.editions import rules_from_proto
from asara_codec.encode import event_message, serialize
from asara_codec.messages import decision_bytes
from asara_codec.view_reader import view_from_proto
from asara_codec.view_writer import ViewWriter
from asara_game import Worlds
from asara_game.knowledge.foresee import Foreseen, foresee
from asara_game.rules import Rules
from asara_game.view import View
from asara_game.vocabulary import DecisionKind
from asara_search.analysis import advise
from asara_server.web.responses import PROTOBUF, WebError
from asara_server.web.settings import WebSettings

LONGEST_S: Final = 2.0
"""Seconds after which a slow machine gives a hint from fewer playouts."""
LARGEST_REQUEST: Final = 64 * 1024
"""Maximum bytes of a request; a position of the richest rules has about 3,000."""
_MOST_ACTIONS: Final = 64
"""Maximum actions in a request, the same as in a reply."""
_LARGEST_PRINTED: Final = 60
"""Maximum of any number in an edition."""
_LARGEST_COUNTED: Final = 9_999
"""Maximum of a number in a view; the rules themselves do not limit prestige and Asari."""
_LARGEST_SIZE: Final = 512
"""Maximum number of things of one kind, such as the sections of a pile."""
_MOST_SPACES: Final = 8
"""Maximum number of spaces in an area."""
_LARGEST_PLOT: Final = 15
_MOST_KEPT: Final = 2
"""Maximum of the lit windows that an edition lets a player keep from a draw."""
_SIZES: Final = frozenset(
    {
        "buyer_pile_size",
        "gift_deck_size",
        "hand_size",
        "lit_window_stack_size",
        "lit_windows",
        "pile_size",
    }
)
_FAULTS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions that the rules raise for a position that no match can reach."""

_Answer = TypeVar("_Answer")


class PreviewError(ValueError):
    """Raised for a request that cannot be answered; the text gives the reason in one sentence."""


def preview(request: PreviewRequest) -> PreviewResponse:
    """Return the consequences of a request's actions; raise PreviewError."""
    with _impossible_refused():
        seen = _seen_in(request)
        actions = [action_from_proto(action) for action in request.actions]
        return _response(foresee(seen, actions), request.started.match_id)


def _seen_in(request: PreviewRequest) -> View:
    """Return what the seat of a request sees, after checks; raise one of `_FAULTS`."""
    _check_sizes(request)
    rules = rules_from_proto(request.started)
    _check_board(rules)
    seen = view_from_proto(rules, request.decision)
    _check_seats(seen)
    return seen


@contextmanager
def _impossible_refused() -> Iterator[None]:
    """Raise PreviewError for a position that no match can reach."""
    try:
        yield
    except PreviewError:
        raise
    except ValueError as error:
        raise PreviewError(f"the request cannot be answered: {_first_line(error)}") from None
    except _FAULTS:
        raise PreviewError("the request is no position of the game") from None


def hint(request: PreviewRequest) -> int:
    """Return the index of the legal action that a search of the seat's worlds chooses.

    The search depends only on the request. Raises PreviewError.
    """
    with _impossible_refused():
        seen = _seen_in(request)
        action = advise(seen.rules, Worlds(seen).sample, seen.legal, LONGEST_S)
        return seen.legal.index(action)


def _response(foreseen: Foreseen, match_id: str) -> PreviewResponse:
    if foreseen.hidden:
        return PreviewResponse(end=PreviewEnd.PREVIEW_END_HIDDEN)
    seen = foreseen.seen
    if seen is None:
        return PreviewResponse(end=PreviewEnd.PREVIEW_END_TURN)
    if seen.decision is None:
        shown = ViewMessage.FromString(ViewWriter().view(seen))
        return PreviewResponse(end=PreviewEnd.PREVIEW_END_TURN, view=shown)
    return PreviewResponse(decision=_decision(seen, foreseen, match_id))


def _decision(seen: View, foreseen: Foreseen, match_id: str) -> DecisionMessage:
    data = decision_bytes(
        match_id=match_id,
        decision_id=0,
        view=seen,
        events=(),
        sequence=0,
        clock_us=0,
        charged_us=0,
    )
    decision = PlayResponse.FromString(data).decision
    decision.events.extend(map(event_message, foreseen.events))
    return decision


def _first_line(error: ValueError) -> str:
    return str(error).splitlines()[0][:200] if str(error) else "it contradicts itself"


def _check_sizes(request: PreviewRequest) -> None:
    if request.ByteSize() > LARGEST_REQUEST:
        raise PreviewError(f"the request has more than {LARGEST_REQUEST:,} bytes")
    if len(request.actions) > _MOST_ACTIONS:
        raise PreviewError(f"the request has more than {_MOST_ACTIONS} actions")
    _check_numbers(request.started.edition, "edition", _LARGEST_PRINTED)
    decision = request.decision
    _check_numbers(decision.view, "view", _LARGEST_COUNTED)
    parts: Iterable[tuple[str, Iterable[Message]]] = (
        ("legal_actions", decision.legal_actions),
        ("build_steps", decision.build_steps),
        ("gifts", decision.gifts),
    )
    for name, messages in parts:
        for message in messages:
            _check_numbers(message, name, _LARGEST_COUNTED)
    _check_number(decision.sections_to_build, "sections_to_build", _LARGEST_PLOT)
    _check_number(decision.lit_windows_to_keep, "lit_windows_to_keep", _MOST_KEPT)


def _check_numbers(message: Message, path: str, largest: int) -> None:
    """Raise PreviewError for a number or a list that is too large, at any depth of the message."""
    for field, value in message.ListFields():
        name = f"{path}.{field.name}"
        most = _LARGEST_SIZE if field.name in _SIZES else largest
        for part in _parts(value, name):
            if isinstance(part, Message):
                _check_numbers(part, name, largest)
            elif isinstance(part, int):
                _check_number(part, name, most)


def _parts(value: Any, name: str) -> list[Any]:
    """Return the entries of a repeated field; any other field gives a list of one value."""
    if isinstance(value, Message | int | str | bytes):
        return [value]
    if len(value) > _LARGEST_SIZE:
        raise PreviewError(f"{name} has more than {_LARGEST_SIZE} entries")
    return list(value)


def _check_number(number: int, name: str, largest: int) -> None:
    if not 0 <= number <= largest:
        raise PreviewError(f"{name} is {number}, not 0 to {largest:,}")


def _check_board(rules: Rules) -> None:
    """Raise PreviewError for a board that no edition can have."""
    edition = rules.edition
    if max(edition.plots, default=0) > _LARGEST_PLOT:
        raise PreviewError(f"edition: a plot has a number above {_LARGEST_PLOT}")
    if max(map(len, rules.spaces_by_area)) > _MOST_SPACES:
        raise PreviewError(f"edition: an area has more than {_MOST_SPACES} spaces")


def _check_seats(seen: View) -> None:
    seats = len(seen.public.seats)
    if seats != seen.rules.seats:
        raise PreviewError(f"the view has {seats} seats, and the match {seen.rules.seats}")
    if not 0 <= seen.private.seat < seats or seen.public.turn_seat != seen.private.seat:
        raise PreviewError("it is not the turn of the seat that decides")
    asked = seen.decision
    if asked is not None and (asked.space is None) != (asked.kind is DecisionKind.SPACE):
        raise PreviewError("decision.space does not fit the kind of the decision")


def preview_routes(settings: WebSettings) -> list[Route]:
    """Return the routes for previews and hints; they keep no state between requests."""
    # Watchers and players need the processor, too.
    one_preview, one_hint = asyncio.Lock(), asyncio.Lock()
    headers = {"Cache-Control": "no-store"}

    async def answer_preview(request: Request) -> Response:
        response = await _answered(request, one_preview, preview)
        return Response(serialize(response), headers=headers, media_type=PROTOBUF)

    async def answer_hint(request: Request) -> Response:
        if settings.play_address is None:
            raise WebError(404, "no match is played at this server")
        index = await _answered(request, one_hint, hint)
        return JSONResponse({"action": index}, headers=headers)

    return [
        Route("/api/preview", answer_preview, methods=["POST"]),
        Route("/api/hint", answer_hint, methods=["POST"]),
    ]


async def _answered(
    request: Request, one_at_a_time: asyncio.Lock, answer: Callable[[PreviewRequest], _Answer]
) -> _Answer:
    """Return the answer to the PreviewRequest in a request; raise WebError."""
    try:
        message = PreviewRequest.FromString(await request.body())
    except DecodeError:
        raise WebError(400, "the request is no PreviewRequest") from None
    try:
        async with one_at_a_time:
            return await asyncio.to_thread(answer, message)
    except PreviewError as error:
        raise WebError(422, str(error)) from None
