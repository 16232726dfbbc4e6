"""The command line of scripts/train; see server/asara_env/training.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from asara.installing import install_command
from asara_env.policy_network import DamagedWeights

from . import curve
from .options import parse_options


def main(arguments: Sequence[str]) -> None:
    try:
        if arguments[:1] == ["curve"]:
            options = curve.parse_options(arguments[1:])
            curve.draw(options.log, options.picture)
        elif arguments[:1] == ["measure"]:
            from . import measure

            measure.print_strength(measure.parse_options(arguments[1:]))
        else:
            _train(arguments)
    except (curve.BadLog, DamagedWeights) as error:
        sys.exit(f"scripts/train: {error}")
    except OSError as error:
        sys.exit(
            f"scripts/train: {error.filename}: {error.strerror}"
            if error.filename
            else f"scripts/train: {error}"
        )


def _train(arguments: Sequence[str]) -> None:
    options = parse_options(arguments)
    try:
        from . import training
    except ImportError as error:
        sys.exit(f"scripts/train: {error}; {install_command('train')} installs what it needs")
    try:
        training.train(options)
    except (training.BadCheckpoint, training.BadDevice) as error:
        sys.exit(f"scripts/train: {error}")
    except KeyboardInterrupt:
        sys.exit(f"scripts/train: interrupted; --resume goes on with {options.out}")


if __name__ == "__main__":
    main(sys.argv[1:])
