"""A page about a run, for people, and its tables as CSV.

`run` reads what the run left, `times` its replays, `model` turns both into what is told, `figures`
draws, `page` writes HTML and `tables` CSV. Only `figures` and `page` need the extra `report`.
"""
