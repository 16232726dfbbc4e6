"""`python -m asara_server.cli` is `asara`."""

from asara_server.cli import main

main()
