"""Opens files until it is refused, then plays normally."""

import os

import asara

opened: list[int] = []
try:
    while len(opened) < 100_000:
        opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    print(f"refused after {len(opened)} files: {error.strerror}", flush=True)
for one in opened:
    os.close(one)

asara.run(lambda decision, match: decision.legal_actions[0])
