"""A cache for the bytes of message parts."""

from collections.abc import Callable
from typing import Any, TypeVar

_Key = TypeVar("_Key")


class _PartCache(dict[Any, bytes]):
    def __init__(self, make: Callable[[Any], bytes], most: int) -> None:
        super().__init__()
        self._make = make
        self._most = most

    def __missing__(self, key: Any) -> bytes:
        if len(self) >= self._most:
            self.clear()
        self[key] = data = self._make(key)
        return data


def cached_part(most: int) -> Callable[[Callable[[_Key], bytes]], Callable[[_Key], bytes]]:
    """Cache the last results of a one-argument function, at most `most` of them.

    A decision needs about five cached parts, and `lru_cache` is slower at looking them up.
    """

    def wrap(make: Callable[[_Key], bytes]) -> Callable[[_Key], bytes]:
        return _PartCache(make, most).__getitem__

    return wrap
