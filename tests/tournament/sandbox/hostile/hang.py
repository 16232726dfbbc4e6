"""Dials in, then ignores SIGTERM and never answers."""

import signal
import time

import asara


def decide(_decision: asara.Decision, _match: asara.Match) -> asara.Action:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


asara.run(decide)
