"""`python -m asara_search.sidecar` runs `asara sidecar`, even if only the client is installed."""

from asara_search.sidecar.command import main

main()
