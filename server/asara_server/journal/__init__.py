"""The inputs of matches: storing them on disk, and re-simulating matches from them."""
