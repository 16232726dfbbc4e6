"""`asara proto`: write the `.proto` files of the protocol."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server import bundled
from asara_server.atomic_file import create_file
from asara_server.cli.display.console import notify
from asara_server.user_error import UserError


def proto(
    directory: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder for the files; created if it does not exist."),
    ],
) -> None:
    """Write the .proto files of the protocol.

    Writes them to DIR/asara/v1; pass DIR to protoc as --proto_path. Existing files
    whose contents differ are left alone.
    """
    source = bundled.path("proto")
    contents = {
        directory / file.relative_to(source): file.read_bytes()
        for file in sorted(source.rglob("*.proto"))
    }
    _check(contents)
    for path, content in contents.items():
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            create_file(path, content)
    notify(f"Wrote {len(contents)} files to {next(iter(contents)).parent}")


def _check(contents: dict[Path, bytes]) -> None:
    """Raise UserError if any of the files cannot be written; writes nothing."""
    for path, content in contents.items():
        blocking = next((above for above in path.parents if above.exists()), None)
        if blocking is not None and not blocking.is_dir():
            raise UserError(f"{blocking}: is a file; choose another folder")
        if path.is_dir() or (path.exists() and path.read_bytes() != content):
            raise UserError(
                f"{path}: exists with other contents; remove it, or choose another folder"
            )
