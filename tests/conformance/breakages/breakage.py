"""The register of breakages."""

from collections.abc import Callable
from typing import Any

BREAKAGES: dict[str, Callable[[], None]] = {}
"""By case: the function that replaces parts of the client so that it fails the case."""


def breaks(case: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a function as the way to break the client so that it fails this case."""

    def register(apply: Callable[[], None]) -> Callable[[], None]:
        assert case not in BREAKAGES, case
        BREAKAGES[case] = apply
        return apply

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
