"""`asara bridge`: any program plays by reading lines of JSON and printing one line per decision.

clients/bridge/README.md describes the lines.
"""
