"""Tournaments: who plays whom, the bots' processes, and who won.

`config` reads the tournament file, `schedule` lists the matches, `processes` and `pool` keep the
bots' programs, `runner` plays the matches against a referee, `results` and `standings` say how it
went, `directory` keeps all of it on disk.
"""
