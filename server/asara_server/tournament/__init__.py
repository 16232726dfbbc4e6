"""Tournaments: who plays whom, the bots' processes, and who won.

`config` reads the tournament file, `schedule` lists the matches, `processes` and `pool` keep the
bots' programs, `tokens` and `reception` let in bots on other machines, `runner` plays a run and
`course` knows how far it is, `results` and `standings` say how it went, `directory` keeps all of it
on disk. A run is played at one of the `venues`: in the runner's own process, or by a `crew` of
`workers` or of a `cluster`, which play `blocks`. Either way matches are played in a `house` with a
referee and bots.

Standings are computed by `appearances` (results as columns), `resampling` (intervals), `summary` (a
line per entry), `cross_table` and `ladder`. `duel` says how two entries compare while they play, by
the test of `sequential`.
"""
