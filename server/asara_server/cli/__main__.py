"""`python -m asara_server.cli` runs `asara`."""

from asara_server.cli import main

main()
