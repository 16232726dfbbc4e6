"""Keeps all cores busy with threads that never end."""

import hashlib
import threading

import asara


def burn() -> None:
    while True:
        hashlib.pbkdf2_hmac("sha256", b"heat", b"salt", 1_000_000)


print("burning", flush=True)
for _ in range(8):
    threading.Thread(target=burn, daemon=True).start()

asara.run(lambda decision, match: decision.legal_actions[0])
