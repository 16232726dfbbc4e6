"""Draws a log: score against each opponent over the number of decisions learned from."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

_COLOURS: Final = ("#1b6ca8", "#c1440e", "#3a7d44", "#7b4fa3")
_STYLES: Final = {"random": "--", "greedy": "-"}


class BadLog(ValueError):
    """Raised if a log cannot be drawn; the text gives the file."""


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the log lines with evaluations; raise BadLog if there are none."""
    found = []
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            line = json.loads(text)
            if line.get("strength"):
                found.append(line)
        except (AttributeError, ValueError):
            raise BadLog(f"{path}, line {number}: not a line of a training's log") from None
    if not found:
        raise BadLog(f"{path}: it holds no evaluation yet")
    return found


def draw(path: Path, picture: Path) -> None:
    """Draw a log as SVG or PNG, depending on the picture's file name."""
    lines = read_log(path)
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "asara"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    tables = list(dict.fromkeys((s["rules"], s["seats"]) for li in lines for s in li["strength"]))
    for (rules, seats), colour in zip(tables, _COLOURS * len(tables), strict=False):
        for against, style in _STYLES.items():
            points = [
                (line["imitated"] + line["played"], s["score"], *s["interval_95"])
                for line in lines
                for s in line["strength"]
                if (s["rules"], s["seats"], s["against"]) == (rules, seats, against)
            ]
            if not points:
                continue
            x, score, low, high = zip(*points, strict=True)
            label = f"{against}: {rules}, {seats} seats"
            axes.plot(x, score, style, color=colour, label=label, linewidth=1.4)
            axes.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)
    first = next((line["imitated"] for line in lines if line["played"]), 0)
    if first:
        axes.axvline(first, color="#999999", linewidth=0.8)
        axes.annotate("self-play", (first, 0.02), xytext=(4, 0), textcoords="offset points")
    axes.axhline(0.5, color="#999999", linewidth=0.8, linestyle=":")
    axes.set(xlabel="decisions", ylabel="score", xlim=(0, None), ylim=(0, 1.02))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1e6:g} M" if value else "0")
    axes.legend(fontsize=7, loc="lower right", title="against", title_fontsize=7)
    figure.savefig(picture, metadata={"Date": None} if picture.suffix == ".svg" else None)
    plt.close(figure)


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/train curve", description="Draw a log.")
    parser.add_argument("log", type=Path, help="log.jsonl of a training")
    parser.add_argument("picture", type=Path, help="a file that ends in .svg or .png")
    options = parser.parse_args(arguments)
    if options.picture.suffix not in {".svg", ".png"}:
        parser.error(f"{options.picture}: end the name in .svg or .png")
    return options
