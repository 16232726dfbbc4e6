"""Aborts in the middle of a match."""

import os

import asara


def decide(decision: asara.Decision, _match: asara.Match) -> asara.Action:
    if decision.decision_id > 3:
        os.abort()
    return decision.legal_actions[0]


asara.run(decide)
