"""`python -m asara.bridge` is `asara bridge`, also where only the client is installed."""

from asara.bridge.command import main

main()
