"""The inputs of matches: how they are stored on disk, and how matches are re-simulated from
them.
"""
