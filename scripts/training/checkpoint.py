"""The folder of a training run: options, checkpoint, log of the curve and weights."""

from __future__ import annotations

import json
import pickle
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch

CHECKPOINT: Final = "checkpoint.pt"
LOG: Final = "log.jsonl"
WEIGHTS: Final = "weights.npz"


class BadCheckpoint(ValueError):
    """Raised if a checkpoint cannot be continued; the text gives the file."""


def save_checkpoint(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write a checkpoint atomically: the file always holds the complete old or new one."""
    path = folder / CHECKPOINT
    new = path.with_suffix(".new")
    torch.save(dict(facts), new)
    new.replace(path)


def load_checkpoint(folder: Path) -> dict[str, Any]:
    """Read a checkpoint; raise BadCheckpoint if it is missing or damaged."""
    path = folder / CHECKPOINT
    try:
        with zipfile.ZipFile(path) as file:
            damaged = file.testzip()  # PyTorch does not check the checksums
        if damaged:
            raise BadCheckpoint(f"{path}: damaged, and cannot be continued: see {damaged} in it")
        facts = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(facts, dict) or not {"network", "optimiser", "options"} <= facts.keys():
            raise BadCheckpoint(f"{path}: not a checkpoint of scripts/train")
    except FileNotFoundError:
        raise BadCheckpoint(f"{path}: there is no checkpoint; start without --resume") from None
    except (
        AttributeError,
        EOFError,
        KeyError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
        pickle.UnpicklingError,
        zipfile.BadZipFile,
    ) as error:
        if isinstance(error, BadCheckpoint):
            raise
        words = str(error).splitlines()
        raise BadCheckpoint(
            f"{path}: damaged, and cannot be continued: {words[0] if words else error!r}"
        ) from None
    return facts


def append_log(folder: Path, line: Mapping[str, Any]) -> None:
    with (folder / LOG).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"at": round(time.time(), 1), **line}) + "\n")


def trim_log(folder: Path, iteration: int) -> None:
    """Drop incomplete lines, and lines after the checkpoint: their iterations are repeated."""
    path = folder / LOG
    if not path.exists():
        return
    kept = []
    for text in path.read_text("utf-8").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue  # the process was killed while it wrote
        if line.get("iteration", 0) <= iteration:
            kept.append(text + "\n")
    new = path.with_suffix(".new")
    new.write_text("".join(kept), "utf-8")
    new.replace(path)
