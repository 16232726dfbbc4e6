"""Tournaments: who plays whom, the bots' processes, and who won.

`config` reads the tournament file, `schedule` lists the matches, `processes` and `pool` keep the
bots' programs, `runner` plays a run, whose
state is its `course`, at one of the `venues`, `results` and `standings` say how it
went, `directory` keeps all of it on disk. Standings are computed by `appearances` (results as
columns), `resampling` (intervals), `summary` (a line per entry), `cross_table` and `ladder`. `duel`
says how two entries compare while they play, by the test of `sequential`.
"""
