"""`python -m asara.bridge` runs `asara bridge`, even if only the client is installed."""

from asara.bridge.command import main

main()
