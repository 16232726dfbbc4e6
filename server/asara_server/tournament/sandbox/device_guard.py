"""Keeps bots from changing the times and permissions of devices.

/dev/null and its like in a sandbox are those of the machine, since nobody but root can create
others. Whoever may write to a device may set its times to the present, and its owner, which is a
bot if root runs it, may set them to any value and change its permissions. So a bot could leave its
next match, or any other bot, some 700 bits of what it knows.

Mounts that are read-only prevent this, and do not prevent programs from writing to the devices.
bubblewrap makes devices unusable where it makes them read-only, so they are mounted in a mount
namespace around it, from which it takes them as they are.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

_DEVICES: Final = Path(__file__).with_name("devices.fstab")
_MOUNT: Final = 'mount --all --fstab "$1"; shift; exec "$@"\n'
"""One call for all devices: each would take a millisecond."""
_TRIAL: Final = "! touch /dev/null 2>/dev/null && echo >/dev/null"
_TRIAL_S: Final = 20.0


def device_guard() -> tuple[str, ...]:
    """Return the start of a command that makes devices read-only for the rest of the command.

    Returns nothing if the system has no way to do so. Root needs no user namespace, except in a
    container that lacks the capability.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    for namespaces in (("--mount",), ("--user", "--map-root-user", "--mount")):
        guard = (unshare, *namespaces, "--", "/bin/sh", "-ec", _MOUNT, "sh", str(_DEVICES))
        try:
            trial = subprocess.run(
                [*guard, "/bin/sh", "-c", _TRIAL],
                env={"PATH": os.defpath},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TRIAL_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if trial.returncode == 0:
            return guard
    return ()
