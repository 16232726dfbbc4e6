"""The examples of the help pages, and the guides that the help pages mention.

Run in this order in an empty folder, the examples work as written; a test plays them. Each line is
a command, with an explanation if one is needed.
"""

from difflib import get_close_matches
from pathlib import Path
from typing import Final

import asara_server
from asara_server.user_error import UserError

EXAMPLES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "new": (("asara new python my-bot", ""),),
    "match": (
        ("asara match my-bot greedy", ""),
        ("asara match my-bot greedy --matches 4 -j 2 -o runs/first", "four matches, two at a time"),
        ("asara match greedy guest --clock 86400", "you start a bot, which has a day to think"),
    ),
    "play": (
        ("asara play --level 1", "against a beginner"),
        ("asara play my-bot random --rules pro", ""),
    ),
    "duel": (("asara duel my-bot greedy -o runs/duel", "keep the replays and the bots' output"),),
    "check": (("asara check my-bot", ""),),
    "rules": (("asara rules", ""),),
    "tournament plan": (
        ("asara tournament plan cup.toml", ""),
        ("asara tournament plan cup.toml --explain", "every setting of the file"),
    ),
    "tournament check": (("asara tournament check cup.toml", ""),),
    "tournament run": (
        ("asara tournament run cup.toml -o runs/cup", ""),
        ("asara tournament run cup.toml -o runs/cup --resume", "continue after Ctrl-C or a crash"),
    ),
    "token new": (("asara token new ann", 'for an entry with token = "ann"'),),
    "token list": (("asara token list", ""),),
    "token revoke": (("asara token revoke ann", ""),),
    "status": (
        ("asara status runs/cup", ""),
        ("asara status runs/cup --watch 5", "every five seconds while the run is active"),
        ("asara status runs/cup --cross --json standings.json", ""),
    ),
    "report": (("asara report runs/cup", "write runs/cup/report.html"),),
    "web": (
        ("asara web", "the runs in this folder, or else in ./runs"),
        ("asara web runs/cup", ""),
    ),
    "audit": (
        ("asara audit runs/cup", ""),
        ("asara audit runs/cup --leaks -j 2", ""),
    ),
    "analyse": (
        ("asara analyse runs/cup/replays/r1-basic-0001-1.asara", ""),
        ("asara analyse runs/cup --entry my-bot --matches 20 -j 2", ""),
    ),
    "bundle": (("asara bundle runs/cup", "write runs/cup/bundles/greedy.zip and so on"),),
    "replay show": (
        ("asara replay show runs/cup/replays/r1-basic-0001-1.asara", ""),
        ("asara replay show runs/cup/replays/r1-basic-0001-1.asara --seat 0", "as seat 0 saw it"),
    ),
    "replay decision": (
        ("asara replay decision runs/cup/replays/r1-basic-0001-1.asara 3 --seat 0", ""),
    ),
    "replay ask": (("asara replay ask runs/cup/replays/r1-basic-0001-1.asara 3 my-bot", ""),),
    "replay export": (("asara replay export runs/cup/replays/r1-basic-0001-1.asara", ""),),
    "replay prove": (
        ("asara replay prove runs/cup/replays/r1-basic-0001-1.asara -o match.proof", ""),
    ),
    "replay page": (
        ("asara replay page runs/cup/replays/r1-basic-0001-1.asara -o match.html", ""),
    ),
    "replay diff": (
        (
            (
                "asara replay diff runs/cup/replays/r1-basic-0001-1.asara \\\n"
                "    runs/cup/replays/r1-basic-0001-2.asara"
            ),
            "",
        ),
    ),
    "replay clock": (("asara replay clock runs/cup/replays/r1-basic-0001-1.asara", ""),),
    "conformance": (
        ("asara conformance my-bot --case 'match-*'", "some of the cases"),
        ("asara conformance -- python my-bot/main.py", "a command, and all cases"),
    ),
    "proto": (("asara proto protos", "then: protoc --proto_path protos ..."),),
}

_OWN: Final = "server/asara_server"
_CLI: Final = f"{_OWN}/cli/README.md"

GUIDES: Final[dict[str, str]] = {
    "new": "clients/README.md",
    "match": f"{_CLI}#Naming a bot",
    "play": f"{_OWN}/web/README.md#Playing",
    "duel": f"{_OWN}/tournament/standings/duel.md",
    "check": f"{_CLI}#Checking a bot",
    "rules": "server/asara_game/README.md",
    "tournament": f"{_OWN}/tournament/README.md",
    "tournament run": f"{_OWN}/tournament/run/README.md",
    "bundle": f"{_OWN}/tournament/run/README.md#Bundles",
    "token": f"{_OWN}/tournament/execution/README.md",
    "status": f"{_OWN}/tournament/run/README.md#Status",
    "report": f"{_OWN}/report/README.md",
    "web": f"{_OWN}/web/README.md",
    "audit": f"{_OWN}/tournament/trust/README.md",
    "analyse": "server/asara_search/analysis/README.md",
    "replay": f"{_OWN}/replay/README.md",
    "replay decision": "clients/debugging.md",
    "replay ask": "clients/debugging.md#Replaying a decision",
    "replay clock": f"{_OWN}/replay/disputes.md",
    "bridge": "clients/bridge/README.md",
    "sidecar": "clients/sidecar.md",
    "conformance": f"{_OWN}/conformance/README.md",
    "proto": "proto/README.md",
}
"""Documents, or sections of them, by command or group. A wheel contains all of them."""


def print_guide(command: str) -> None:
    """Print the document, or the section of one, about a command or its group."""
    page = GUIDES.get(command) or GUIDES.get(command.partition(" ")[0])
    if page is None:
        close = get_close_matches(command, GUIDES, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise UserError(f"--guide: add a command, for example `asara help --guide match`{hint}")
    document, _, heading = page.partition("#")
    packages, parts = Path(asara_server.__file__).parents[1], Path(document).parts
    if parts[0] == "server":
        path = packages.joinpath(*parts[1:])
    else:
        from asara_server import bundled  # loads gRPC

        path = bundled.path(*parts)
    text = path.read_text(encoding="utf-8")
    if heading:
        text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        text = f"## {heading}\n{text}"
    print(text.rstrip())
