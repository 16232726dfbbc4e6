"""The report of a run: one HTML file that contains the page and the run, and its tables as CSV.

`times` reads everything in the directory except the results. `tables` defines every table once, for
CSV, HTML and JSON. `run_json` returns the run as the page shows it; the web server sends the same.
`pages` makes the files.
"""
