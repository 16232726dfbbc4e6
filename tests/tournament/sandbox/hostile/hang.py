"""Dials in, then ignores SIGTERM and never answers."""

import signal

import asara


def decide(_decision: asara.Decision, _match: asara.Match) -> asara.Action:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()


asara.run(decide)
