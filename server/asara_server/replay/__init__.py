"""Replays: signed files of finished matches, their audit, and their description in words."""
