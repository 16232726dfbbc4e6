"""Files that come with the package: bots, the sources of the clients, and the `.proto` files.

A wheel holds them in `asara_server/data`; in a checkout they lie where they are developed.
"""

from pathlib import Path

import asara.v1

_INSTALLED = Path(__file__).with_name("data")
_CHECKOUT = Path(asara.v1.__file__).parents[4]
"""The client's checkout: this package may be a compiled copy elsewhere."""


def path(*parts: str) -> Path:
    """Return the path of a bundled file or folder, such as `path("bots", "random")`.

    The first part is `bots`, `clients` or `proto`. The path exists unless the installation lacks
    it: the Python client is no data, and is not in a wheel's `clients`.
    """
    top = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    return top.joinpath(*parts)


def is_installed() -> bool:
    """Return True if the files are those of a wheel, which nothing should change."""
    return _INSTALLED.is_dir()


def page() -> Path:
    """Return the folder of the built page, with `app` and `single`; it may not exist."""
    if is_installed():
        return Path(__file__).with_name("page")
    return _CHECKOUT / "server" / "asara_server" / "page"
