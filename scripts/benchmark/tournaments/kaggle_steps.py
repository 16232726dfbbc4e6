"""A child process that plays kaggle-environments' connectx with two of its random agents."""

import asyncio
import sys
import time
from contextlib import redirect_stdout

from scripts.benchmark.children import serve_commands


async def play(seconds: float) -> dict[str, float]:
    """Play matches for about this long; return the number of agent steps and the seconds taken."""
    with redirect_stdout(sys.stderr):  # standard output is for responses
        from kaggle_environments import make

        make("connectx").run(["random", "random"])
        steps = 0
        began = time.perf_counter()
        while time.perf_counter() < began + seconds:
            environment = make("connectx")
            environment.run(["random", "random"])
            steps += len(environment.steps) - 1  # the first is the empty board
        return {"steps": steps, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    asyncio.run(serve_commands({"play": play}))
