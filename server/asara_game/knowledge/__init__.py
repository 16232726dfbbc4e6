"""What a seat can know: its history, what remains possible for it, and other worlds."""
