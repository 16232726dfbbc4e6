from asara_codec.results import Termination
from asara_server.tournament.bots.exclusions import FailedStarts


def test_only_failures_in_a_row_count() -> None:
    starts = FailedStarts(2)
    told = [
        starts.record_start("ann", termination, "no file")
        for termination in (
            Termination.NEVER_STARTED,
            Termination.CRASH,
            Termination.NEVER_STARTED,
            Termination.NEVER_STARTED,
        )
    ]
    assert told == ["", "", "", "not started again after 2 failures in a row: no file"]
