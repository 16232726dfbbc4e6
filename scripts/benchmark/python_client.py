"""Compares the Python client with a bare grpc.aio client, per decision and at start-up.

The starter and the bare client receive and parse the same messages, and both answer with a legal
action; `clients` explains how a decision is measured. Importing `asara` is compared with importing
grpc and the protobuf modules that generated messages need.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final

from scripts.benchmark.clients import ROOT, Plan, Program, decision_us, recordings
from scripts.benchmark.figures import Bar, Figure, compare

_BOT: Final = Program(["python", "main.py"], ROOT / "bots/random", {}, bare=False)
_BARE: Final = Program(
    ["python", "answer.py"], Path(__file__).with_name("echo_clients") / "python", {}, bare=False
)
_BAR: Final = Bar(1.3, most=True)
_MATCHES: Final = (20, 80)
_QUICK_MATCHES: Final = (4, 30)
_ROUNDS: Final = 7
_IMPORTS: Final = 15

_OURS: Final = "import asara"
_THEIRS: Final = """\
import grpc
from google.protobuf import descriptor, descriptor_pool, runtime_version, symbol_database
from google.protobuf.internal import builder
"""


def python_client(quick: bool) -> list[Figure]:
    """Measure the processor time of a decision, and of the import."""
    plays = list(recordings())
    plans = [Plan.of(plays, matches) for matches in (_QUICK_MATCHES if quick else _MATCHES)]
    decisions = [
        (decision_us(_BOT, plans), decision_us(_BARE, plans))
        for _ in range(1 if quick else _ROUNDS)
    ]
    _import_ms(_OURS)  # compiles and caches
    imports = [(_import_ms(_OURS), _import_ms(_THEIRS)) for _ in range(3 if quick else _IMPORTS)]
    return [
        compare("python_client", decisions, unit="µs of processor", peer="bare grpc.aio", bar=_BAR),
        compare(
            "python_import", imports, unit="ms of processor", peer="grpc and protobuf", bar=_BAR
        ),
    ]


def _import_ms(code: str) -> float:
    """Return the processor time in milliseconds that a fresh interpreter takes for this code."""
    program = (
        f"import time\nbegan = time.process_time()\n{code}\nprint(time.process_time() - began)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return float(done.stdout) * 1e3
