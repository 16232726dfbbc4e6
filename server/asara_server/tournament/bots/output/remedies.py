"""Remedies for what programs in all languages report alike: no network, or a missing module."""

import re
from collections.abc import Iterable

_NETWORK = re.compile(
    r"name resolution|Name or service not known|resolve host|Unknown ?[Hh]ost|dial tcp|unreachable"
    r"|Connection refused|Address family not supported"
    r"|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENOTCACHED|offline mode"
)
_MODULE = re.compile(r"(?:No module named|Cannot find (?:module|package)) '([^']+)'")

NOT_RUN = "the program has to call the client's run function, which connects"
NO_NETWORK = "the sandbox has no network: put what it needs from there into its folder beforehand"


def remedy(printed: Iterable[str], *, contained: bool) -> str:
    """Return a remedy for what a bot printed; "" if none is known.

    `contained` is True for a bot in the sandbox. The clients' own messages are left out, because
    they explain themselves.
    """
    lines = [line for line in printed if "asara: " not in line]
    if contained and wants_network(lines):
        return NO_NETWORK
    if missing := missing_module(lines):
        return (
            f"the module {missing} is missing: put it into the bot's folder if it is a file of "
            "yours; if it is a package, install it for the program that runs the bot"
        )
    return ""


def wants_network(printed: Iterable[str]) -> bool:
    """Return True if a program seems to have failed because it had no network."""
    return any(map(_NETWORK.search, printed))


def missing_module(printed: Iterable[str]) -> str:
    """Return the last module that Python or Node.js did not find, or ""."""
    found = [module[1] for module in map(_MODULE.search, printed) if module]
    return found[-1] if found else ""
