"""The register of breakages."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

BREAKAGES: dict[str, Callable[[], None]] = {}
"""For each case, a function that replaces parts of the client so that the client fails it."""


F = TypeVar("F", bound=Callable[..., Any])


def breaks(case: str, owner: Any = None, name: str = "") -> Callable[[F], F]:
    """Register a function as the way to break the client so that it fails this case.

    With an owner, it takes the place of the owner's function or method of this name, as `around`
    says.
    """

    def register(function: F) -> F:
        assert case not in BREAKAGES, case
        BREAKAGES[case] = partial(around(owner, name), function) if owner else function
        return function

    return register


def around(owner: Any, name: str) -> Callable[[Callable[..., Any]], None]:
    """Replace a function or method by one that calls the decorated `wrapper(original, ...)`."""

    def replace(wrapper: Callable[..., Any]) -> None:
        original = getattr(owner, name)

        def replaced(*arguments: Any, **keywords: Any) -> Any:
            return wrapper(original, *arguments, **keywords)

        setattr(owner, name, replaced)

    return replace


def put(owner: Any, name: str, value: object) -> None:
    """Replace an attribute, which must exist."""
    getattr(owner, name)
    setattr(owner, name, value)
