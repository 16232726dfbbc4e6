"""Files that come with the package: bots, the sources of the clients, and the `.proto` files.

A wheel contains them in `asara_server/data`. In a checkout they are where they are developed.
"""

from pathlib import Path

import asara.v1

_INSTALLED = Path(__file__).with_name("data")
_CHECKOUT = Path(asara.v1.__file__).parents[4]
"""The checkout, found through the client: this package may be a compiled copy elsewhere."""


def path(*parts: str) -> Path:
    """Return the path of a bundled file or folder, such as `path("bots", "random")`.

    The first part is `bots`, `clients` or `proto`. The path exists unless the installation lacks
    the file. A wheel's `clients` folder does not contain the Python client, which is a package.
    """
    top = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    return top.joinpath(*parts)


def is_installed() -> bool:
    """Return True if the bundled files belong to a wheel, so nothing should change them."""
    return _INSTALLED.is_dir()


def page() -> Path:
    """Return the folder of the built page, with `app` and `single`; it may not exist."""
    if is_installed():
        return Path(__file__).with_name("page")
    return _CHECKOUT / "server" / "asara_server" / "page"
