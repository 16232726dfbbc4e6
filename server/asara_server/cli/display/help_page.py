"""Help pages without Typer's additions: Python types, braces, and ranges such as `x>=1`."""

from enum import Enum
from pkgutil import resolve_name
from typing import Any, Final

from typer.core import TyperCommand

from asara_server.cli.display.examples import EXAMPLES
from asara_server.cli.usage_errors import UsageError

_LEFT: Final = 34
"""Maximum characters to the left of an option's help, with a margin."""

_HARD_SPACE: Final = "\N{NO-BREAK SPACE}"


_OF_ALL: Final = ("_quiet", "_verbose")
"""Options of the root that are also options of every command."""


class PlainCommand(TyperCommand):
    """A command with a plain help page and the options that all commands have."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            error.ctx = error.ctx or ctx  # type: ignore[attr-defined]
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a class is run by its session, which is imported only now."""
        asked = super().invoke(ctx)
        session = getattr(asked, "session", None)
        if session is None:
            return asked
        return resolve_name(f"asara_server.cli.sessions.{session}")(asked, ctx.obj)

    def get_params(self, ctx: Any) -> list[Any]:
        shared = [one for one in ctx.find_root().command.params if one.name in _OF_ALL]
        own = super().get_params(ctx)
        return own if self is ctx.find_root().command else [*own[:-1], *shared, *own[-1:]]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", *map(_argument_name, _parameters(self, ctx, "argument"))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        if arguments := _parameters(self, ctx, "argument"):
            with formatter.section("Arguments"):
                formatter.write_dl([(_argument_name(one), _option_help(one)) for one in arguments])
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples without breaking a line, so that users can copy them, and the
        guide.
        """
        command = ctx.command_path.partition(" ")[2]
        with formatter.section("Examples"):
            for example, what in EXAMPLES.get(command, ()):
                formatter.write(f"  {example}\n" + (f"      {what}\n" if what else ""))
        formatter.write(f"\nGuide: asara help --guide {command}\n")


def write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Write the options section of a command's or group's help page."""
    with formatter.section("Options"):
        formatter.write_dl(
            [
                (option.get_help_record(ctx)[0], _option_help(option, formatter.width - _LEFT))
                for option in _parameters(command, ctx, "option")
            ]
        )
    formatter.buffer[:] = [part.replace(_HARD_SPACE, " ") for part in formatter.buffer]


def _parameters(command: Any, ctx: Any, kind: str) -> list[Any]:
    shared = _OF_ALL if ctx.parent else ()
    return [
        one
        for one in command.get_params(ctx)
        if one.param_type_name == kind
        and not getattr(one, "hidden", False)
        and one.name not in shared
    ]


def _argument_name(argument: Any) -> str:
    name: str = argument.metavar or argument.name.upper()
    if argument.nargs != 1:
        name = f"{name}..."
    return name if argument.required else f"[{name}]"


def _option_help(option: Any, kept_whole: int = 0) -> str:
    """Return the help of an option, followed by a note: its default and environment variable.

    A note of at most `kept_whole` characters is not broken into two lines. `show_default` may be a
    text that describes a default computed by the program.
    """
    notes = []
    if option.required:
        if option.param_type_name == "option":
            notes.append("required")
    elif isinstance(option.show_default, str):
        notes.append(f"default: {option.show_default}")
    elif option.default is True:
        notes.append(f"default: {option.opts[0]}")
    elif option.show_default and _is_shown(option.default):
        notes.append(f"default: {_value(option.default)}")
    if isinstance(option.envvar, str):
        notes.append(f"env: {option.envvar}")
    text: str = option.help or ""
    if not notes:
        return text
    note = f"[{'; '.join(notes)}]"
    if len(note) <= kept_whole:
        note = note.replace(" ", _HARD_SPACE)
    return f"{text} {note}"


def _is_shown(value: Any) -> bool:
    return value is not False and isinstance(value, str | int | float | Enum | tuple)


def _value(value: Any) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    return f"{value:g}" if isinstance(value, float) else str(value)
