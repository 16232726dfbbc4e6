"""The report of a run: one HTML page, and its tables as CSV.

`run` reads the run directory, `times` reads the replays, `model` combines both, `figures` draws the
plots, `page` writes HTML and `tables` writes CSV. Only `figures` and `page` need the extra
`report`.
"""
