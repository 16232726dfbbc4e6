"""The examples of the help pages.

In this order they work as written, in an empty folder: a test plays them. Each line is a command,
and what it does if that is not plain.
"""

from typing import Final

EXAMPLES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "new": (("asara new python my-bot", ""),),
    "match": (
        ("asara match my-bot greedy", ""),
        ("asara match my-bot greedy --matches 4 -j 2 -o runs/first", "keep replays and logs"),
        ("asara match 'search --milliseconds 5' my-bot random", "a bot with an option"),
    ),
    "play": (
        ("asara play", "against greedy"),
        ("asara play my-bot random --rules pro", ""),
    ),
    "duel": (("asara duel my-bot greedy -o runs/duel", ""),),
    "check": (("asara check my-bot", ""),),
    "rules": (("asara rules", ""),),
    "tournament plan": (("asara tournament plan cup.toml", ""),),
    "tournament check": (("asara tournament check cup.toml", ""),),
    "tournament run": (
        ("asara tournament run cup.toml -o runs/cup", ""),
        ("asara tournament run cup.toml -o runs/cup --resume", "go on after Ctrl-C or a crash"),
    ),
    "tournament bundle": (("asara tournament bundle runs/cup", ""),),
    "token new": (("asara token new ann", 'for an entry with token = "ann"'),),
    "token list": (("asara token list", ""),),
    "token revoke": (("asara token revoke ann", ""),),
    "serve": (
        ("asara serve", "two seats for bots that you start"),
        ("asara serve greedy", "one seat, against greedy"),
    ),
    "status": (
        ("asara status runs/cup", ""),
        ("asara status runs/cup --watch 5", "every five seconds, until the run is over"),
        ("asara status runs/cup --cross --json standings.json", ""),
    ),
    "report": (("asara report runs/cup", "write runs/cup/report.html"),),
    "web": (
        ("asara web", "all runs in ./runs"),
        ("asara web runs/cup", ""),
    ),
    "audit": (
        ("asara audit runs/cup", ""),
        ("asara audit runs/cup --leaks -j 2", ""),
    ),
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
        ("asara conformance my-bot --run 'match-*'", "some of the cases"),
        ("asara conformance -- python my-bot/main.py", "a command, and all cases"),
    ),
    "proto": (("asara proto protos", "then: protoc --proto_path protos ..."),),
}
