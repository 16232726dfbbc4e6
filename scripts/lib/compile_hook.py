"""Hatch's build hook that puts compiled modules in the wheel, next to their sources.

The hook is off unless HATCH_BUILD_HOOKS_ENABLE is set. `scripts/compile` takes its modules from
such a wheel. The plugin hatch-mypyc is not suitable: it supports only one source folder, and
compiles into that folder, where the results would hide later changes to the sources.
"""

import contextlib
import os
import shlex
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SOURCES: Final = "server"
_MYPY: Final = """\
[mypy]
mypy_path = {root}/clients/python
cache_dir = {work}/mypy
follow_imports = silent
ignore_missing_imports = True
"""
_WITHOUT: Final = "Unset HATCH_BUILD_HOOKS_ENABLE for a wheel without compiled modules."


class CompileHook(BuildHookInterface[BuilderConfig]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # its modules are the sources themselves
            return
        modules = self.config["modules"]
        if problem := _missing_file(Path(self.root), modules) or _missing_tool():
            self.app.abort(f"{problem}\n{_WITHOUT}")
        self._work = tempfile.TemporaryDirectory(prefix="asara-")  # kept until the wheel is packed
        made = _compile(Path(self.root), modules, Path(self._work.name))
        build_data["force_include"].update(made)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True


def _missing_file(root: Path, modules: list[str]) -> str:
    for module in modules:
        if not (root / _SOURCES / module).is_file():
            return f"pyproject.toml: hooks.custom.modules: there is no {_SOURCES}/{module}"
    return ""


def _missing_tool() -> str:
    """Return a sentence about a missing C compiler or header, or "" if nothing is missing."""
    command = os.environ.get("CC") or sysconfig.get_config_var("CC")  # None for Visual C++
    if command and not shutil.which(shlex.split(command)[0]):
        return (
            f"There is no C compiler ({command}): on Debian and Ubuntu, apt-get install gcc;"
            " or name another one by CC"
        )
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return "Python's headers are missing: on Debian and Ubuntu, apt-get install python3-dev"
    return ""


def _compile(root: Path, modules: list[str], work: Path) -> dict[str, str]:
    """Compile the modules in `work`; return the compiled files with their paths in the wheel."""
    import setuptools.errors  # before mypyc, which then compiles with setuptools
    from mypyc.build import mypycify

    config = work / "mypy.ini"
    config.write_text(_MYPY.format(root=root, work=work))
    with contextlib.chdir(root / _SOURCES):  # tracebacks name paths as they are in the wheel
        extensions = mypycify(
            [f"--config-file={config}", *modules],
            target_dir=str(work / "c"),
            debug_level="0",  # half the size, and no paths of this machine
        )
        if os.name != "nt":  # whose compiler hides functions by itself
            for extension in extensions:  # calls of hidden functions need no look-up: 6% less time
                extension.extra_compile_args.append("-fvisibility=hidden")
        command = setuptools.Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
        command.ensure_finalized()
        command.build_lib = str(work / "lib")
        command.build_temp = str(work / "objects")
        command.parallel = os.cpu_count()
        try:
            command.run()
        except setuptools.errors.BaseError as error:
            raise SystemExit(f"The modules could not be compiled: {error}\n{_WITHOUT}") from None
    made = [path for path in (work / "lib").rglob("*") if path.is_file()]
    return {str(path): path.relative_to(work / "lib").as_posix() for path in made}
