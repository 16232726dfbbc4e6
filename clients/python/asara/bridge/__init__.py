"""`asara bridge`: lets any program play by reading JSON lines and printing one line per decision.

clients/bridge/README.md describes the lines.
"""
