"""Replays: signed files of finished matches, how they are audited, and their description in
words.
"""
