"""Tournaments: the schedule, the bots' processes, the run directory, and the standings."""
