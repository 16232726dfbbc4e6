"""The page about runs and matches: a web server beside the referee, in a process of its own."""
