"""Mutations of valid files and arguments, for fuzzing."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asara_codec.wire_format import delimited, read_varint, varint
from asara_server.replay.signing import SigningKey
from tests.match.playouts import signed_bytes

NUMBERS = ["0", "-1", "1", "3", "2147483648", "9223372036854775808", "-9223372036854775809"]
NUMBERS += ["1e999", "-1e999", "nan", "inf", "0x" + "f" * 40]
NUMBERS += ["9" * 5_000, "1_000", "1e-320", "5.5"]
TEXTS = ["", " ", "x", "~nobody-here", "~", "/", ".", "..", "n" * 256, "n" * 5_000, "n/" * 2_500]
TEXTS += ["/dev/zero", "/dev/full", "/proc/self/mem", "/proc/self", "-", "--", "--help", "%s"]
TEXTS += ["{x}"]
TEXTS += ["\u202e", "\x1b[2J", "é" * 200, "'", '"', "a b", "a'b", "\\", "\x7f", "[red]x[/red]"]
TEXTS += ["[/]"]
TEXTS += ["unix:", "unix:/" + "s" * 200, "host:99999"]
TEXTS += ["[::1]:x", ":1", "1:1:1", "random", "greedy"]
TEXTS += ["basic", "pro+gifts", "pro+pro", "2024-01-01", "0" * 64]
TEXTS += ["\N{FULLWIDTH DIGIT ONE}", "\N{MATHEMATICAL DOUBLE-STRUCK DIGIT ONE}"]
JSON_VALUES: list[Any] = [None, True, False, 0, -1, 2**31, 2**63, 2**70, 10**400, 1.5, 1e308, ""]
JSON_VALUES += [[], {}]
JSON_VALUES += [[[]], {"": None}, "\ud800", *TEXTS]
TOML_VALUES = ['""', '"x"', "[]", "{}", "[[]]", "[1, 2]", "[2, 2]", "true", "1979-05-27"]
TOML_VALUES += ["07:32:00"]
TOML_VALUES += [f'"{text}"' for text in TEXTS if '"' not in text and "\\" not in text]
TOML_VALUES += ["[" * 2_000, "'''", '"""', "{a={a=1}}"]
TOML_VALUES += ["[{a=1}]", '["python", ""]', '["", "x"]']
TOML_VALUES += ['["\\u0000"]', '"\\u0000"', "0b1", "0o7", "+inf", "-nan", "1.e", *NUMBERS]
BYTES = [b"\0", b"\xff", b"\n", b"\r", b"\x80" * 20, b"{", b"}", b"[", b'"', b"=", b"."]
BYTES += [b"\xef\xbb\xbf"]
BYTES += [b"." * 200, b"[" * 5_000, b'{"a":' * 5_000, b"9" * 10_000, b"\xff" * 1_000]
BYTES += [b"\xed\xa0\x80"]


def mutate_bytes(data: bytes, dice: random.Random) -> bytes:
    """Return the data after some random changes at random places."""
    for _ in range(dice.choice([1, 1, 1, 2, 5])):
        at = dice.randrange(len(data) + 1)
        to = min(len(data), at + dice.choice([1, 2, 8, 100, 10_000]))
        match dice.randrange(7):
            case 0 if data:
                at = min(at, len(data) - 1)
                data = data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]
            case 1:
                data = data[:at]
            case 2:
                data = data[:at] + data[to:]
            case 3:
                data = data[:to] + data[at:to] * dice.choice([1, 3, 50]) + data[to:]
            case 4:
                data = data[:at] + dice.randbytes(dice.choice([1, 4, 100])) + data[at:]
            case _:
                data = data[:at] + dice.choice(BYTES) + data[to if dice.random() < 0.5 else at :]
    return data


def mutate_json(data: bytes, dice: random.Random) -> bytes:
    """Change values, keys and items of a JSON text, or of one line of a text of JSON lines."""
    lines = data.split(b"\n") if data.count(b"\n{") else [data]
    index = dice.randrange(len(lines))
    try:
        root = json.loads(lines[index])
    except ValueError:
        return mutate_bytes(data, dice)
    for _ in range(dice.choice([1, 1, 2, 4])):
        node = root
        while isinstance(node, dict | list) and node:
            key = dice.choice(list(node) if isinstance(node, dict) else range(len(node)))
            if not isinstance(node[key], dict | list) or not node[key] or dice.random() < 0.3:
                _change(node, key, dice)
                break
            node = node[key]
    lines[index] = json.dumps(root, ensure_ascii=dice.random() < 0.5).encode(errors="surrogatepass")
    return b"\n".join(lines)


def _change(node: Any, key: Any, dice: random.Random) -> None:
    match dice.randrange(5):
        case 0:
            del node[key]
        case 1 if isinstance(node, dict):
            node[dice.choice(TEXTS)] = dice.choice(JSON_VALUES)
        case 1:
            node.extend([node[key]] * dice.choice([1, 5, 100]))
        case _:
            node[key] = dice.choice(JSON_VALUES)


def mutate_toml(data: bytes, dice: random.Random) -> bytes:
    """Change values, keys and lines of a TOML text."""
    lines = data.decode().split("\n")
    for _ in range(dice.choice([1, 1, 2, 4])):
        index = dice.randrange(len(lines))
        key, equals, _ = lines[index].partition("=")
        match dice.randrange(8):
            case 0:
                del lines[index]
                lines = lines or [""]
            case 1:
                lines.insert(index, lines[dice.randrange(len(lines))])
            case 2 if equals:
                lines[index] = f"{dice.choice(TEXTS)} ={lines[index].partition('=')[2]}"
            case 3:
                lines[index] += dice.choice(TEXTS)
            case _ if equals:
                lines[index] = f"{key}= {dice.choice(TOML_VALUES)}"
            case _:
                lines.insert(index, f"{dice.choice(KEYS)} = {dice.choice(TOML_VALUES)}")
    return "\n".join(lines).encode()


KEYS = ["title", "seats", "rules", "rounds", "blocks_per_entry", "blocks", "orders", "seed"]
KEYS += ["jobs", "deals", "process_per", "processes", "transport", "clocks", "limits", "remote"]
KEYS += ["entries", "entries_from", "name", "command", "directory", "environment", "build"]
KEYS += ["readable", "token", "listen", "certificate", "key", "tokens", "wait_s", "jobs_per_bot"]
KEYS += ["time_bank_s", "increment_s", "memory_mib", "suspend_share", "PATH", "team"]


def mutate_replay(data: bytes, dice: random.Random, key: SigningKey) -> bytes:
    """Change, exchange, drop and repeat records or their fields, and often sign the file again."""
    records = []
    at = 8
    while at < len(data):
        length, at = read_varint(data, at)
        records.append(data[at : at + length])
        at += length
    records.pop()
    for _ in range(dice.choice([1, 1, 2, 4])):
        index = dice.choice([0, len(records) - 1, dice.randrange(len(records))])
        match dice.randrange(6):
            case 0 if len(records) > 1:
                del records[index]
            case 1:
                records[index:index] = [dice.choice(records)] * dice.choice([1, 2, 300])
            case 2:
                other = dice.randrange(len(records))
                records[index], records[other] = records[other], records[index]
            case 3:
                field = varint(dice.randrange(1, 40) << 3 | dice.choice([0, 2]))
                records[index] += field + dice.choice([b"\0", varint(dice.getrandbits(63)), b"\1x"])
            case _:
                records[index] = mutate_bytes(records[index], dice)
        index = 0
    if dice.random() < 0.7:
        return signed_bytes(records, key)
    return data[:8] + b"".join(map(delimited, records)) + data[-100:]


def put_odd_file(path: Path, dice: random.Random) -> str:
    """Put something in the place of a file that is no ordinary one; return what."""
    path.unlink(missing_ok=True)
    odd: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "an empty file": path.touch,
        "a directory": path.mkdir,
        "a loop of links": lambda: path.symlink_to(path),
        "a link to nothing": lambda: path.symlink_to(path.parent / "nothing"),
        "a link to /dev/zero": lambda: path.symlink_to("/dev/zero"),
        "a link to /dev/null": lambda: path.symlink_to("/dev/null"),
        "a link to /proc": lambda: path.symlink_to("/proc/self/maps"),
        "a pipe": lambda: os.mkfifo(path),
        "10 GiB of nothing": lambda: _make_hole(path, 10 << 30),
        "10 MiB of nothing": lambda: _make_hole(path, 10 << 20),
    }
    name = dice.choice(list(odd))
    odd[name]()
    return name


def _make_hole(path: Path, size: int) -> None:
    path.touch()
    os.truncate(path, size)
