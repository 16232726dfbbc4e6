"""How many blocks a tournament needs for a given precision."""

from pathlib import Path

from asara_server.cli.display.console import out
from asara_server.cli.display.quantities import count
from asara_server.cli.errors import UserError
from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.run.read_run import RunError, read_run
from asara_server.tournament.schedule.layout import balance, seat_orders
from asara_server.tournament.schedule.looks import looks_at
from asara_server.tournament.schedule.plan import planned_layout, planned_matches
from asara_server.tournament.standings.intervals import blocks_for, error_of
from asara_server.tournament.standings.standings import block_variance


def show_precision(tournament: Tournament, half_width: float, pilot: Path | None) -> None:
    """Print the number of blocks, and the key of the tournament file that gives it."""
    variance = _of_equals(tournament) if pilot is None else _of_pilot(tournament, pilot)
    looks = looks_at(planned_matches(tournament)) if tournament.until else ()
    needed = blocks_for(half_width, variance, error_of(looks))
    source = "at equal strength" if pilot is None else f"by the run in {pilot}"
    out.print(
        f"Intervals of ±{half_width:g} take about {count(needed, 'block')} of every entry, "
        f"{source}:\n{_key(tournament, needed)}."
    )
    if pilot is None:
        out.print("This counts no saving by shared deals; --pilot DIR measures it in a run.")


def _key(tournament: Tournament, needed: int) -> str:
    """Return the setting that gives every entry so many blocks."""
    kinds = len(tournament.rules)
    if tournament.blocks_per_entry is not None:
        return f"blocks_per_entry = {-(-needed // (kinds * len(tournament.seats)))}"
    layout = planned_layout(tournament)
    planned = sum(balance(layout, seats).blocks_per_entry.least for seats in tournament.seats)
    return f"rounds = {-(-needed * tournament.rounds // max(1, kinds * planned))}"


def _of_equals(tournament: Tournament) -> float:
    """Return the variance of a block score if all ranks are equally likely in every match."""
    matches = {
        seats: 1 if tournament.blocks == "duplicate" else seat_orders(seats, tournament.orders)
        for seats in tournament.seats
    }
    found = [(seats + 1) / (12 * (seats - 1) * matches[seats]) for seats in tournament.seats]
    return sum(found) / len(found)


def _of_pilot(tournament: Tournament, pilot: Path) -> float:
    try:
        run = read_run(pilot)
    except RunError as error:
        raise UserError(str(error)) from None
    if run.info.blocks != tournament.blocks:
        raise UserError(
            f"{pilot}: has {run.info.blocks} blocks, and the tournament {tournament.blocks} ones; "
            "choose a run with blocks of the same kind"
        )
    variance = block_variance(run.results)
    if variance is None:
        raise UserError(f"{pilot}: no entry has two blocks; choose a longer run")
    return variance
