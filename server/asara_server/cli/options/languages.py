"""The languages of `asara new`, with their tools."""

import difflib
from dataclasses import dataclass
from typing import Final

from asara_server.user_error import UserError

_DEBIAN: Final = "sudo apt-get install --yes"


@dataclass(frozen=True, slots=True)
class Language:
    """A language in which `asara new` can create a bot."""

    name: str
    title: str
    starter: str
    """Name of the built-in bot that is copied."""
    source: str
    """The bot's source file."""
    tools: tuple[str, ...] = ()
    """Programs that download, build or run a bot."""
    install: str = ""
    """Where to get these programs, to follow the word `install`."""
    workflow: str = ""
    """Steps of a GitHub workflow that install the tools; "" if GitHub's machines have them."""
    kit: bool = True
    """True if the sources of a client are copied, too."""
    client_path: str = "asara"
    """Path of the client's sources as written in the starter."""


def _action(uses: str, **settings: str) -> str:
    values = "".join(
        f'          {key.replace("_", "-")}: "{value}"\n' for key, value in settings.items()
    )
    return f"      - uses: {uses}\n        with:\n{values}"


def _command(text: str) -> str:
    return f"      - run: {text}\n"


LANGUAGES: Final = (
    Language("python", "Python", "random", "main.py", kit=False),
    Language(
        "go",
        "Go",
        "go-random",
        "main.go",
        ("go",),
        "Go 1.22 or newer (https://go.dev/dl)",
        _action("actions/setup-go@v5", go_version="stable"),
        client_path="./asara",  # without ./, Go takes a word for a module name
    ),
    Language(
        "typescript",
        "TypeScript",
        "typescript-random",
        "src/bot.ts",
        ("node", "npm"),
        "Node.js 20.12 or newer (https://nodejs.org)",
        _action("actions/setup-node@v4", node_version="20"),
    ),
    Language(
        "rust",
        "Rust",
        "rust-random",
        "src/main.rs",
        ("cargo",),
        "Rust (https://rustup.rs)",
    ),
    Language(
        "java",
        "Java",
        "java-random",
        "src/main/java/Main.java",
        ("java", "javac", "mvn"),
        "a JDK, 17 or newer, and Maven (Debian: apt-get install openjdk-17-jdk maven)",
        _action("actions/setup-java@v4", distribution="temurin", java_version="17"),
    ),
    Language(
        "cpp",
        "C++",
        "cpp-random",
        "main.cpp",
        ("cmake", "c++", "protoc"),
        "CMake, a compiler of C++20 and gRPC (Debian: apt-get install cmake g++ pkg-config "
        "libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc libssl-dev)",
        _command(
            f"{_DEBIAN} cmake g++ pkg-config libgrpc++-dev libprotobuf-dev "
            "protobuf-compiler protobuf-compiler-grpc libssl-dev"
        ),
    ),
    Language(
        "shell",
        "POSIX shell",
        "shell-bridge",
        "bot.sh",
        ("sh", "jq"),
        "jq (Debian: apt-get install jq)",
        _command(f"{_DEBIAN} jq"),
        kit=False,
    ),
    Language(
        "perl",
        "Perl",
        "perl-bridge",
        "bot.pl",
        ("perl",),
        "Perl (Debian: apt-get install perl)",
        kit=False,
    ),
    Language(
        "tcl",
        "Tcl",
        "tcl-bridge",
        "bot.tcl",
        ("tclsh",),
        "Tcl (Debian: apt-get install tcl)",
        _command(f"{_DEBIAN} tcl"),
        kit=False,
    ),
)


def find_language(name: str) -> Language:
    """Return the language with this name; raises UserError."""
    wanted = name.casefold()
    for language in LANGUAGES:
        if wanted == language.name:
            return language
    names = [language.name for language in LANGUAGES]
    close = difflib.get_close_matches(wanted, names, n=1, cutoff=0.7)  # php is not a cpp
    hint = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(names)}"
    raise UserError(
        f"unknown language {name!r}; {hint}"
        + ("" if close else "; for any other, see `asara bridge --help` and `asara proto`")
    )
