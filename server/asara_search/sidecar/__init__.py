"""`asara sidecar`: the forward model for a bot in any language, over standard input and output.

clients/sidecar.md describes the lines.
"""
