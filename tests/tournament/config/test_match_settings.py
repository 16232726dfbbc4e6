"""The settings that all matches of a run share."""

from pathlib import Path

from asara_codec.clocks import Clocks
from asara_server.tournament.config.tournament_file import MatchSettings, check_tournament


def test_the_clocks_of_a_tournament_file_are_kept_to_the_microsecond(tmp_path: Path) -> None:
    clocks = {
        "start_up_s": 1,
        "time_bank_s": 2.5,
        "increment_s": 0.000001,
        "grace_s": 0.07,
        "reconnect_s": 86_400,
        "hide_forced": True,
    }
    entries = [{"name": name, "bot": "greedy"} for name in ("ann", "bob")]
    file = {"title": "cup", "seats": 2, "rules": "basic", "clocks": clocks, "entries": entries}
    tournament = check_tournament(file, name="cup.toml", base=tmp_path)
    settings = MatchSettings.of(tournament, None, {})
    assert settings.clocks == Clocks(1_000_000, 2_500_000, 1, 70_000, 86_400_000_000)
    assert settings.hide_forced
