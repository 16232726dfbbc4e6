"""Tournaments: the schedule, the processes of the bots, the run on disk, and the standings."""
