"""The report of a run: one HTML file with the page and the run inside, and its tables as CSV.

`run_files` and `times` read what is in the directory besides the results, `tables` defines every
table once, for CSV, HTML and JSON, `run_json` holds the run as the page shows it, and `page` writes
the file. The web server sends the same JSON.
"""
