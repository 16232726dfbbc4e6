"""Leaves children behind that ignore signals in sessions of their own, then plays."""

import os
import signal
import subprocess

import asara

for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        subprocess.run(["sleep", os.environ["MARK"]], check=False)
    os._exit(0)
os.wait()
subprocess.Popen(["sleep", os.environ["MARK"]], start_new_session=True)
print("left", flush=True)

asara.run(lambda decision, match: decision.legal_actions[0])
