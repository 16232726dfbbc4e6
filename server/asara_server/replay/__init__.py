"""Replays: signed files of finished matches, with their audit and their description in words."""
