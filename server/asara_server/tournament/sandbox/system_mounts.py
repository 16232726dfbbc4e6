"""The parts of this machine that every sandboxed program sees: the system and the interpreter."""

import os
import site
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

Mounts: TypeAlias = dict[str, list[str]]
"""Options for bubblewrap, by the path in the sandbox that they create."""

_SYSTEM = ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr", "/nix/store")
_ETC = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)
_PACKAGES = ("asara", "asara_codec", "asara_env", "asara_game", "asara_search", "asara_server")
"""Packages that bots may import; in an editable installation they are in the checkout."""


def system_mounts() -> Mounts:
    """Return the mounts of the system directories, the interpreter and its packages."""
    mounts = {}
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            mounts[name] = ["--symlink", str(path.readlink()), name]
        elif path.exists():
            mounts[name] = ["--ro-bind", name, name]
    etc = Path("/etc")
    for path in (*(etc / name for name in _ETC), *etc.glob("java-*")):
        if path.is_symlink() and path.exists():
            mounts[str(path)] = ["--ro-bind", str(path.resolve()), str(path)]
        elif path.exists():
            mounts[str(path)] = ["--ro-bind", str(path), str(path)]
    for path in _interpreter_paths():
        if not any(path.is_relative_to(name) for name in mounts):
            mounts[str(path)] = ["--ro-bind", str(path.resolve()), str(path)]
    return mounts


@cache
def system_paths() -> tuple[Path, ...]:
    """Return the paths on this machine that every program sees."""
    return tuple(map(Path, system_mounts()))


def is_of_system(path: Path) -> bool:
    """Return True for a path in the system directories, which every program sees."""
    return any(path.is_relative_to(name) for name in _SYSTEM)


def _interpreter_paths() -> list[Path]:
    """Return the interpreter and the directories that bots import from, outermost first."""
    executable = Path(sys.executable)
    found = {Path(name) for name in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    while executable.is_symlink():  # from the link in the virtual environment to the program
        executable = Path(os.path.normpath(executable.parent / executable.readlink()))
        found.add(executable)
    if site.ENABLE_USER_SITE:
        found.add(Path(site.getusersitepackages()))
    for package in _PACKAGES:
        spec = find_spec(package)
        found.update(map(Path, spec.submodule_search_locations or () if spec else ()))
    found |= {path.resolve() for path in found if path.is_dir()}
    return sorted((path for path in found if path.exists()), key=lambda path: len(path.parts))
