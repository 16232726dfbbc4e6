"""`python -m asara_search.sidecar` is `asara sidecar`, also where only the client is installed."""

from asara_search.sidecar.command import main

main()
