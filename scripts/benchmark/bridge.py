"""Compares `asara bridge` with the plain Python client, using bots that play at random.

Both receive the same recorded messages of four-player matches with all rule sets, using gRPC over a
Unix socket. The benchmark measures the processor time of the process that holds the connection,
from the first message to the last reply. The program behind the bridge is a separate process, and
its time is not counted. In this benchmark, it finds its answer in the line without parsing JSON.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import grpc

from asara.v1.play_pb2 import Goodbye, PlayRequest, PlayResponse, Welcome
from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server.network.grpc_server import PLAY_SERVICE
from scripts.benchmark.echo import record
from scripts.benchmark.figures import Bar, BenchError, Figure, compare

_RULES: Final = ("pro+gifts+genie", 4)
_ROUNDS: Final = 7
_RECORDINGS: Final = 4
"""Recorded matches per round; each is played once from every seat."""
_LIMIT_US: Final = 1_000
"""Maximum processor time that the bridge may add to a decision, in microseconds."""
_END_S: Final = 10

_PROGRAM: Final = """
import sys
for line in sys.stdin.buffer:
    if line.startswith(b'{"type":"decision"'):
        start = line.index(b'"random_index":') + 15
        print(line[start : line.index(b",", start)].decode(), flush=True)
"""
_PLAIN: Final = """
import asara
asara.run(lambda decision, match: match.random_action(decision))
"""


def bridge(quick: bool) -> list[Figure]:
    """Measure the processor time of a decision with and without the bridge."""
    recordings = [_recording(seed) for seed in range(1 if quick else _RECORDINGS)]
    rounds = [
        (
            _played(("-m", "asara.bridge", "--", sys.executable, "-c", _PROGRAM), recordings),
            _played(("-c", _PLAIN), recordings),
        )
        for _ in range(1 if quick else _ROUNDS)
    ]
    both = compare("bridge", rounds, unit="µs/decision", peer="Python client, same bot")
    added_us = both.value - both.peer_value
    limit = Bar(1, most=True)
    added = Figure("bridge_added", added_us, "µs/decision", "limit", _LIMIT_US, limit)
    return [both, added]


def _recording(seed: int) -> list[PlayResponse]:
    """Return a match's messages to seat 0, then the messages to seat 1, and so on."""
    rules, seats = _RULES
    sent = record(Rules(load_edition(), parse_rule_sets(rules), seats), f"m{seed}", seed)
    return [response for _, response in sorted(sent, key=lambda each: each[0])]


def _played(arguments: Sequence[str], recordings: Sequence[list[PlayResponse]]) -> float:
    """Let a bot play; return its processor time per decision in microseconds."""
    with tempfile.TemporaryDirectory(prefix="asara-bench-") as folder:
        referee = _Recorded(f"unix:{folder}/socket", recordings)
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, "ASARA_ADDRESS": referee.address, "ASARA_TOKEN": "bench"},
        )
        try:
            referee.process = process.pid
            if status := process.wait(_END_S * 12):
                raise BenchError(f"the bot ended with status {status}: see above")
        finally:
            process.kill()
            referee.stop()
    return referee.cpu_us / referee.decisions


class _Recorded:
    """Sends recorded messages to one bot; each decision waits for the previous answer."""

    def __init__(self, address: str, recordings: Sequence[list[PlayResponse]]) -> None:
        self.address = address
        self.process = 0
        self.cpu_us = 0.0
        self.decisions = 0
        self._recordings = recordings
        self._server = grpc.server(ThreadPoolExecutor(1))
        handler: Any = grpc.stream_stream_rpc_method_handler(
            self._play,
            request_deserializer=PlayRequest.FromString,
            response_serializer=PlayResponse.SerializeToString,
        )
        methods = grpc.method_handlers_generic_handler(PLAY_SERVICE, {"Play": handler})
        self._server.add_generic_rpc_handlers((methods,))
        self._server.add_insecure_port(address)
        self._server.start()

    def stop(self) -> None:
        self._server.stop(None).wait()

    def _play(self, requests: Iterator[PlayRequest], _: object) -> Iterator[PlayResponse]:
        next(requests)  # Hello
        yield PlayResponse(welcome=Welcome(protocol_version=1, entry="bench"))
        before = _cpu_us(self.process)
        for recording in self._recordings:
            for response in recording:
                yield response
                if response.HasField("decision"):
                    next(requests)
                    self.decisions += 1
        self.cpu_us = _cpu_us(self.process) - before
        yield PlayResponse(goodbye=Goodbye(reason="measured"))


def _cpu_us(process: int) -> float:
    """Return a process's processor time so far, including all threads."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    except OSError:
        raise BenchError("bridge: processor times of other processes need Linux") from None
    ticks = sum(map(int, fields.split()[11:13]))
    return ticks * 1e6 / os.sysconf("SC_CLK_TCK")
