"""The names of all commands and options, on their help pages."""

import re

import pytest

from tests.contract.doors import asara
from tests.sizes import others_long

OPTIONS = {
    "new": "no-fetch",
    "match": "clock jobs matches mirrored out readable rules sandbox seed start-up",
    "play": (
        "browser clock insecure-remote level listen matches no-browser out people rules sandbox "
        "seed"
    ),
    "duel": "clock jobs json margin max-blocks out readable rules sandbox seed",
    "check": "clock json out readable rules sandbox start-up",
    "rules": "",
    "tournament plan": "explain pilot precision",
    "tournament check": "out remote sandbox",
    "tournament run": (
        "dask insecure-remote jobs key metrics out prepare resume sandbox web workers"
    ),
    "token new": "file",
    "token list": "file",
    "token revoke": "file",
    "status": "cross json watch without-forfeits",
    "report": "csv out pages",
    "web": "embed host insecure-remote listen",
    "audit": "inclusion jobs leaks manifest proof public-key",
    "analyse": "against budget entry jobs matches",
    "bundle": "",
    "replay show": "seat",
    "replay decision": "seat",
    "replay ask": "limit readable sandbox seat",
    "replay export": "",
    "replay prove": "out",
    "replay page": "bot-output language out seat",
    "replay diff": "",
    "replay clock": "",
    "bridge": "jobs",
    "sidecar": "",
    "conformance": "case jobs junit known-failing level list",
    "proto": "",
}


def listed(page: str) -> set[str]:
    """Return the long options at the beginning of the lines of a help page."""
    heads = re.findall(r"^  (-.*?)(?:  .*)?$", page, re.MULTILINE)
    return set(re.findall(r"--([a-z-]+)", " ".join(heads))) - {"help"}


def test_the_first_page_has_all_commands_and_what_all_of_them_share() -> None:
    page = asara("--help").stdout
    assert set(re.findall(r"^  (\w+)  ", page, re.MULTILINE)) == {
        command.split()[0] for command in OPTIONS
    }
    assert {"quiet", "verbose", "version"} <= listed(page)


@pytest.mark.parametrize("command", others_long(OPTIONS, 3))
def test_a_command_has_these_options(command: str) -> None:
    assert listed(asara(*command.split(), "--help").stdout) == set(OPTIONS[command].split())
