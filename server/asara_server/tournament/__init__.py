"""Tournaments: the schedule, the bots' processes, the run on disk, and the standings."""
