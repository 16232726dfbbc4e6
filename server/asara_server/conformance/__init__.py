"""Conformance: cases, as data, that a scripted referee plays against any program that is a bot.

The cases are in `cases/LEVEL/*.yaml`, and `case` describes their form. `runner` plays them side by
side, each with a referee and a process of its own.
"""
