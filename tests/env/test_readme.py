"""The page of the environments: its tables are the code's."""

from asara_env.action_numbers import ACTION_COUNT, ACTION_RANGES
from asara_env.observation import OBSERVATION_SIZE, PARTS, SEAT_BLOCK
from asara_env.rewards import REWARDS
from asara_env.vector import Step
from tests.docs.documents import ROOT, first_words, read, table

PAGE = "server/asara_env/README.md"


def test_the_table_of_actions_is_that_of_the_code():
    rows = []
    for found in ACTION_RANGES:
        last = f"–{found.first + found.size - 1}" if found.size > 1 else ""
        rows.append([f"{found.first}{last}", f"`{found.action.__name__}`", found.order])
    assert table(PAGE, "numbers") == rows


def test_the_number_of_parts_is_that_of_the_code():
    assert f"There are {len(PARTS)} parts." in read(PAGE)


def test_sizes_fields_and_rewards_are_those_of_the_code():
    text = read(PAGE)
    assert f"[rows, {OBSERVATION_SIZE}]" in text
    assert f"[rows, {ACTION_COUNT}]" in text
    assert f"begins {SEAT_BLOCK} entries" in text.replace("\n", " ")
    assert first_words(PAGE, "field of a step") == set(Step._fields)
    assert first_words(PAGE, "`reward`") == set(REWARDS)


def test_all_modules_are_listed():
    modules = {path.stem for path in (ROOT / "server/asara_env").glob("*.py")}
    assert first_words(PAGE, "module") == modules - {"__init__", "missing_library"}
