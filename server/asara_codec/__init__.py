"""Conversion between the types of the game and the messages of `asara.v1`."""
