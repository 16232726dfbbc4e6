"""What a seat can know: its history, the possibilities left open, and other worlds."""
