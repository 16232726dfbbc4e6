"""Programs in the sandbox: the files they see, the resources they may use, and their end."""

import asyncio
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import asara
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.resources import ResourceLimits
from tests.events import until
from tests.tournament.sandbox.contained import LIMITS, python, run, run_entry, running
from tests.tournament.sandbox_config import HOSTILE, living

PROGRAM = f"program-{os.getpid()}.py"
"""Name of a bot's file that no other run of the tests uses on this machine."""


def without_groups(sandbox: Sandbox) -> Sandbox:
    """Return the sandbox with limits for each process instead of control groups."""
    return Sandbox(replace(sandbox.tools, cgroups=None))


def test_the_end_is_told_as_without_a_sandbox(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    assert run(sandbox, folder, python("raise SystemExit(3)"))[0] == "exited with status 3"
    assert run(sandbox, folder, python("import os; os.abort()"))[0] == "killed by SIGABRT"
    how, printed = run(sandbox, folder, ["./missing"])
    assert how == "exited with status 127"
    assert "not found" in printed


def test_a_program_sees_the_system_its_own_files_and_nothing_else(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "own.txt").write_text("mine")
    (tmp_path / "other.txt").write_text("not yours")
    code = """
import os, pathlib, asara, asara_codec, asara_env, asara_game, asara_search
print(sorted(os.listdir("..")), pathlib.Path("own.txt").read_text())
print(sorted(os.listdir("/")))
print(os.listdir("/home") if os.path.exists("/home") else "no home")
print(sorted(name for name in os.environ if name not in ("LANG", "LC_ALL", "LC_CTYPE", "TZ")))
print(os.environ["HOME"], os.getpid() < 10, os.getuid(), os.uname().nodename)
"""
    how, printed = run(sandbox, folder, python(code))
    assert how == "exited with status 0", printed
    own, root, home, names, rest = printed.splitlines()[-5:]
    assert own == "['bot'] mine"
    assert set(eval(root)) <= {
        *("bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "nix", "proc", "sbin", "tmp"),
        *("usr", Path(os.path.realpath(sys.prefix)).parts[1]),
        *(Path(sys.base_prefix).parts[1], Path(asara.__file__).parts[1], tmp_path.parts[1]),
    }
    assert home == "no home" or "home" in str(asara.__file__)
    needed = {"ASARA_SEED", "ASARA_TOKEN", "HOME", "PATH", "TMPDIR", "USER"}
    needed |= {"PYTHONFAULTHANDLER", "PYTHONUNBUFFERED"}
    set_by_shell = {"OLDPWD", "PWD", "SHLVL", "_"}
    assert needed <= set(eval(names)) <= needed | set_by_shell
    assert rest == "/tmp True 1000 bot"


def test_what_is_secret_stays_so_where_all_around_it_is_seen(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    folder = tmp_path / "bot"
    (folder / "run").mkdir(parents=True)
    for name in ("run/run.journal", "referee.key"):
        (folder / name).write_text("words")
    shelf = tmp_path / "shelf"
    for name in ("key", "keys/more/key"):
        (shelf / name).parent.mkdir(parents=True, exist_ok=True)
        (shelf / name).write_text("words")
    secret = (folder / "run", folder / "referee.key", *shelf.iterdir(), shelf / "keys" / "more")
    (folder / "own.py").write_text("""
import os
print(sorted(os.listdir(".")), os.listdir("/shelf/keys"), os.listdir("/keys"))
for name in ("run/run.journal", "referee.key", "/shelf/key"):
    try:
        assert not open(name).read()
    except OSError as error:
        print(f"refused {name}")
open("run/x", "w")
""")
    readable = ((shelf, Path("/shelf")), (shelf / "keys", Path("/keys")))
    how, printed = run(
        sandbox.with_hidden(*secret), folder, ["python", "own.py"], readable=readable
    )
    assert "['own.py'] [] []\n" in printed
    assert "refused run/run.journal\n" in printed
    assert "refused /shelf/key\n" in printed
    assert "words" not in printed
    assert "No such file or directory: 'run/x'" in printed
    assert how == "exited with status 1"


@pytest.mark.long
@pytest.mark.parametrize("way", ["private", "shared", "children"])
def test_memory_ends_where_the_limit_says(sandbox: Sandbox, tmp_path: Path, way: str) -> None:
    if not sandbox.has_cgroups:
        pytest.skip("without control groups, each process has its own limit")
    how, printed = eats(sandbox, tmp_path, way, 1024)
    if way != "children":  # the kernel may kill some of them while the parent continues
        assert how == "killed by SIGKILL: it used more than 256 MiB of memory"
        assert "REACHED" not in printed


def test_memory_within_the_limit_can_be_used(sandbox: Sandbox, tmp_path: Path) -> None:
    for box in (sandbox, without_groups(sandbox)):
        how, printed = eats(box, tmp_path, "private", 64)
        assert (how, printed.splitlines()[-1]) == ("exited with status 0", "REACHED all of it")


@pytest.mark.parametrize("way", ["private", "shared"])
def test_without_groups_each_process_has_a_memory_limit(
    sandbox: Sandbox, tmp_path: Path, way: str
) -> None:
    how, printed = eats(
        without_groups(sandbox), tmp_path, way, 1024, replace(LIMITS, memory_mib=64)
    )
    assert how == "exited with status 1"
    assert "MemoryError" in printed or "Cannot allocate memory" in printed


def eats(
    sandbox: Sandbox,
    tmp_path: Path,
    way: str,
    much_mib: int,
    limits: ResourceLimits = LIMITS,
) -> tuple[str, str]:
    folder = tmp_path / "bot"
    folder.mkdir(exist_ok=True)
    shutil.copy(HOSTILE, folder)
    settings = {"MUCH_MB": str(much_mib)}
    return run(sandbox, folder, ["python", "hostile.py", "memory", way], limits, settings)


def test_no_library_of_the_program_runs_outside_or_before_the_limits(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """The linker loads the libraries that variables name into every program that inherits them."""
    folder = tmp_path / "bot"
    settings = {"LD_PRELOAD": str(folder / "no.so"), "QUOTED": 'it\'s $HOME `id`\n"x"'}
    how, printed = run(
        sandbox, folder, python("import os; print(os.environ['QUOTED'])"), settings=settings
    )
    assert how == "exited with status 0"
    assert printed.count("cannot be preloaded") == 1  # by the program, not by those that start it
    assert 'it\'s $HOME `id`\n"x"' in printed


@pytest.mark.skipif(os.geteuid() == 0, reason="needs control groups to limit the processes of root")
def test_processes_are_bounded_without_groups(sandbox: Sandbox, tmp_path: Path) -> None:
    forks(without_groups(sandbox), tmp_path)


def test_forks_end_where_the_limit_says(sandbox: Sandbox, tmp_path: Path) -> None:
    forks(sandbox, tmp_path)


def forks(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    shutil.copy(HOSTILE, folder / PROGRAM)

    async def scenario() -> None:
        command = ["python", PROGRAM, "fork"]
        async with running(sandbox, folder, command) as (_, path):
            await until(lambda: "refused to fork" in path.read_text())
            # The command lines of bubblewrap's own processes contain the program as well.
            assert 10 < len(living(command[1])) <= LIMITS.processes + 5
        await gone(command[1])

    asyncio.run(scenario())


async def gone(mark: str) -> None:
    await until(lambda: not living(mark))


def status(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()


async def test_bubblewrap_is_out_of_reach(sandbox: Sandbox, tmp_path: Path) -> None:
    """It is process 1 of the sandbox and its parent, which end the bot."""
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / PROGRAM).write_text("""
import os, signal
print("SEEN", os.listdir("/proc/1"))
for number in sorted(signal.valid_signals()):
    os.kill(1, number)
go, ready = os.pipe()
child = os.fork()
if child == 0:
    os.read(go, 1)
    os.kill(0, signal.SIGSTOP)  # all of the process group
os.setsid()
os.write(ready, b".")
os.waitpid(child, os.WUNTRACED)
print("SENT", flush=True)
signal.pause()
""")

    command = ["python", PROGRAM]
    async with running(sandbox, folder, command) as (process, path):
        await until(lambda: "SENT" in path.read_text())
        assert "SEEN []" in path.read_text()
        assert process.running
        assert "\nState:\tT" not in status(process.pid)
    await gone(command[1])


def test_a_bot_has_no_terminal_and_writes_to_no_file_of_the_kernel(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    code = """
import os
def opened(path):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        return True
    except OSError:
        return False
files = [os.path.join(folder, name) for root in ("/proc", "/proc/self/net")
    for folder, _, names in os.walk(root) for name in names if "/fd" not in folder]
print("KERNEL", len(files) > 100, [path for path in files if opened(path)])
print("TERMINALS", [path for path in ("/dev/ptmx", "/dev/pts/ptmx", "/dev/tty") if opened(path)])
"""
    how, printed = run(sandbox, tmp_path / "bot", python(code))
    assert printed.splitlines()[-2:] == ["KERNEL True []", "TERMINALS []"], (how, printed)


@pytest.mark.parametrize("loopback", [False, True])
def test_internet_sockets_are_the_organisers_word(
    sandbox: Sandbox, tmp_path: Path, loopback: bool
) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "main.py").write_text("""
import socket
try:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    print("CONNECTED")
    socket.create_connection(("198.51.100.1", 80), timeout=2)
    print("LEFT THE SANDBOX")
except OSError as error:
    print(error)
""")
    entry = 'command = "python main.py"\ndirectory = "bot"\n'
    (tmp_path / "cup.toml").write_text(
        f'seats = 2\nrules = "basic"\n[[entries]]\nname = "a"\n{entry}'
        f'[[entries]]\nname = "b"\n{entry}' + "loopback = true\n" * loopback
    )
    printed = run_entry(sandbox, tmp_path / "cup.toml", "b").splitlines()
    assert ("CONNECTED" in printed) == loopback
    assert ("[Errno 101]" if loopback else "[Errno 97]") in printed[-1]  # unreachable, unsupported


@pytest.mark.long
def test_processor_time_ends_where_the_limit_says(sandbox: Sandbox, tmp_path: Path) -> None:
    code = "while True: pass"
    how, _ = run(sandbox, tmp_path / "bot", python(code), replace(LIMITS, cpu_s=1))
    assert how in {"killed by SIGXCPU", "killed by SIGKILL"}


SPINS = """
import os, signal
for _ in range(20):
    if os.fork() == 0:
        while True:
            pass
signal.pause()
"""


PERIOD_NS = 100_000_000
"""Time after which the kernel gives a group with a limit its share of processor time anew."""


def periods(group: Path) -> int:
    """Return how many such periods a group has run in; 0 if it has no limit."""
    found = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(found.get("nr_periods", 0))


async def test_cores_end_where_the_limit_says(sandbox: Sandbox, tmp_path: Path) -> None:
    """Twenty processes get no more time than one core has."""
    if not sandbox.has_cgroups:
        pytest.skip("cores are limited by control groups only")
    folder = tmp_path / "bot"
    folder.mkdir()

    async with running(sandbox, folder, python(SPINS), replace(LIMITS, cores=1)) as (bot, _):
        assert bot.group is not None
        folders = [path for path in bot.group.folders if (path / "cpu.stat").exists()]
        await until(lambda: sum(map(periods, folders)) >= 10)
        used_ns = bot.processor_ns()
        assert used_ns is not None
        assert used_ns < (sum(map(periods, folders)) + 2) * PERIOD_NS


def test_open_files_end_where_the_limit_says(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    shutil.copy(HOSTILE, folder)
    how, printed = run(sandbox, folder, ["python", "hostile.py", "files"])
    assert how == "exited with status 0"
    assert "refused after 2" in printed
    assert "Too many open files" in printed
