"""Conformance: data-driven cases that a scripted referee plays against any bot program.

The cases are in `cases/LEVEL/*.yaml`, and `case` describes their form. `runner` plays them
concurrently, each with its own referee and process.
"""
