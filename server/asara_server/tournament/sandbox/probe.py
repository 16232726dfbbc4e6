"""Finds this machine's sandbox and tests it once, with the interpreter that runs the bots."""

import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from asara_server import system
from asara_server.logs import logger
from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.sandbox.bubblewrap import (
    Sandbox,
    SandboxedCommand,
    SandboxSpec,
    SandboxTools,
)
from asara_server.tournament.sandbox.cgroups import Cgroups
from asara_server.tournament.sandbox.machine_limits import find_ceilings, match_limits, reductions
from asara_server.tournament.sandbox.resources import (
    NOTHING_RESERVED,
    ReservedPaths,
    ResourceLimits,
)
from asara_server.tournament.sandbox.seccomp import seccomp_filter

USE_NONE: Final = "use --sandbox none to run bots unconfined, with your permissions"
"""The remedy at the end of every message about a missing sandbox."""
_INSTALL: Final = (
    "install it (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap)"
)

_PROBE_S: Final = 20.0
_PROBE: Final = (
    "from importlib.util import find_spec as f; import sys;"
    "sys.exit(0 if all(map(f, ('asara', 'grpc', 'google.protobuf')))"
    " else 'it hides the Python client or its dependencies')"
)


class SandboxError(Exception):
    """Raised if this machine cannot contain bots; the text gives the reason and the remedy."""


def find_sandbox(
    limits: Limits | None = None,
    reserved: ReservedPaths = NOTHING_RESERVED,
    *,
    builds: bool = False,
) -> Sandbox:
    """Return this machine's sandbox after a test run with the limits of a bot.

    Raises SandboxError if there is no working sandbox, or if the machine permits less than half of
    the `limits`: of bots, and of `builds` if there are any. By default, `limits` are the defaults
    of a tournament.
    """
    limits = limits or Limits()
    bubblewrap, prlimit = shutil.which("bwrap"), shutil.which("prlimit")
    if not system.LINUX:
        raise SandboxError(f"there is none on this system, as it {system.NEEDS_LINUX}; {USE_NONE}")
    if bubblewrap is None:
        raise SandboxError(f"bubblewrap (bwrap) is not on PATH; {_INSTALL}, or {USE_NONE}")
    if prlimit is None:
        raise SandboxError(f"prlimit is not on PATH; install util-linux, or {USE_NONE}")
    if shutil.which("tar", path=os.defpath) is None:
        raise SandboxError(f"there is no tar in {os.defpath}; install it, or {USE_NONE}")
    if seccomp_filter() is None:
        raise SandboxError(
            "the sandbox knows the system calls of x86-64 and ARM64 processors only, not those of "
            f"{platform.machine()}; {USE_NONE}"
        )
    cgroups = Cgroups.find()
    if cgroups is None and os.geteuid() == 0:
        raise SandboxError(
            "Linux does not limit the number of root's processes, and no control groups (memory, "
            f"pids) can be created to do so; run asara as an ordinary user, or {USE_NONE}"
        )
    ceilings = find_ceilings()
    for one in reductions(limits, ceilings, builds=builds):
        if one.too_much:
            raise SandboxError(f"{one.text}; {one.remedy}")
    guard = device_guard()
    tools = SandboxTools(bubblewrap, str(Path(prlimit).resolve()), cgroups, guard, ceilings)
    sandbox = Sandbox(tools, reserved)
    _test(sandbox, match_limits(limits, ceilings))
    if not guard:
        logger("sandbox").warning(
            "bots can leave messages for each other in the times of devices",
            remedy="permit this user to run unshare --mount (util-linux), see the sandbox's README",
        )
    return sandbox


def require_freezer(sandbox: Sandbox | None) -> None:
    """Raise SandboxError unless bots can be frozen; the text begins with the reason."""
    if sandbox is None:
        raise SandboxError("only bots in the sandbox can be frozen while they are not asked")
    if not sandbox.can_freeze:
        raise SandboxError(
            "bots cannot be frozen while they are not asked, because no control groups with a "
            "freezer can be created: from Linux 5.2 on, `systemd-run --user --scope "
            "--property=Delegate=yes asara …` permits it"
        )


def _test(sandbox: Sandbox, limits: ResourceLimits) -> None:
    """Run the interpreter in the sandbox and look for the client. Raises SandboxError."""
    try:
        spec = SandboxSpec(sandbox, limits, Path("/tmp"))  # noqa: S108
        sandboxed = spec.wrap(
            [sys.executable, "-c", _PROBE], {"PATH": os.environ.get("PATH", os.defpath)}
        )
        done = _run(sandboxed)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"bubblewrap does not work here: {error}; {USE_NONE}") from None
    if done.returncode:
        words = done.stderr.strip() or f"status {done.returncode}"
        raise SandboxError(_explain(words, sandbox.tools.bubblewrap))


def _run(sandboxed: SandboxedCommand) -> subprocess.CompletedProcess[str]:
    deadline = time.monotonic() + _PROBE_S
    try:
        return subprocess.run(
            sandboxed.argv,
            env=sandboxed.environment,
            pass_fds=sandboxed.descriptors,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PROBE_S,
            check=False,
        )
    finally:
        sandboxed.close_descriptors()
        os.close(sandboxed.began_file)
        while sandboxed.kill() and time.monotonic() < deadline:
            time.sleep(0.01)
        cgroup, first = sandboxed.cgroup, sandboxed.first
        while cgroup and not cgroup.try_remove() and time.monotonic() < deadline:
            time.sleep(0.01)
        if first is not None:
            first.close()


def _explain(stderr: str, bubblewrap: str) -> str:
    """Return an error message based on what the test run printed."""
    line = stderr.splitlines()[-1]
    hint = ""
    if "nknown option" in stderr:
        line, hint = stderr.splitlines()[0], "; bubblewrap 0.8 or newer is needed"
    elif "emporarily unavailable" in stderr:
        hint = "; this user has as many processes as it may (ulimit -u)"
    elif not _creates_namespaces(bubblewrap):
        hint = (
            "; this user may not create user namespaces (Ubuntu: allow it for bwrap in AppArmor; "
            "in a container: grant the container that right)"
        )
    return f"bubblewrap does not work here: {line}{hint}; fix it, or {USE_NONE}"


def _creates_namespaces(bubblewrap: str) -> bool:
    """Return True if bubblewrap works without limits and with the whole file system."""
    bare = [bubblewrap, "--unshare-user", "--ro-bind", "/", "/", "/bin/true"]
    try:
        return not subprocess.run(
            bare, capture_output=True, timeout=_PROBE_S, check=False
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


_DEVICES: Final = Path(__file__).with_name("devices.fstab")
_MOUNT: Final = 'mount --all --fstab "$1"; shift; exec "$@"\n'
"""Mounts all devices in one call, because separate calls would take a millisecond each."""
_TRIAL: Final = "! touch /dev/null 2>/dev/null && echo >/dev/null"
_TRIAL_S: Final = 20.0


def device_guard() -> tuple[str, ...]:
    """Return the start of a command that makes devices read-only for the rest of the command.

    Devices such as /dev/null in a sandbox are the machine's own, since only root can create
    devices. Anyone who may write to a device may set its times, and so leave about 700 bits for
    other bots. Read-only mounts prevent this, but still let programs write to the devices. If
    bubblewrap itself makes devices read-only, they become unusable. They are therefore mounted
    read-only in an outer mount namespace, from which bubblewrap takes them unchanged.

    Returns an empty command if the system does not support this. Root needs no user namespace,
    except in a container that lacks the capability.
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
