import pytest

from asara import ConfigurationError, Settings

ENVIRONMENT = {
    "ASARA_ADDRESS": "localhost:5000",
    "ASARA_TOKEN": "t",
    "ASARA_SEAT": "2",
    "ASARA_SEED": "7",
    "ASARA_CA": "ca.pem",
    "ASARA_PATIENCE_S": "2.5",
}


def test_the_environment_completes_omitted_settings() -> None:
    assert Settings().complete(ENVIRONMENT) == Settings(
        address="localhost:5000", token="t", seat=2, seed="7", ca="ca.pem", patience_s=2.5
    )


def test_settings_of_the_author_override_the_environment() -> None:
    own = Settings(address="unix:/s", token="u", seat=0, seed=0, ca="own.pem", patience_s=0)
    assert own.complete(ENVIRONMENT) == own


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({}, "ASARA_ADDRESS and ASARA_TOKEN are not set: start this bot with `asara match`"),
        ({"ASARA_ADDRESS": "h:1"}, "ASARA_TOKEN is not set"),
        (
            ENVIRONMENT | {"ASARA_ADDRESS": "localhost"},
            "ASARA_ADDRESS is 'localhost': expected host:port",
        ),
        (
            ENVIRONMENT | {"ASARA_ADDRESS": "localhost:http"},
            "ASARA_ADDRESS is 'localhost:http': expected",
        ),
        (ENVIRONMENT | {"ASARA_SEAT": "first"}, "ASARA_SEAT is 'first'"),
        *(
            (ENVIRONMENT | {"ASARA_PATIENCE_S": text}, f"ASARA_PATIENCE_S is '{text}': expected")
            for text in ("soon", "-1", "nan", "1e3", "1_0", " 1")
        ),
    ],
)
def test_a_bad_environment_is_named(environ: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        Settings().complete(environ)
    assert caught.value.exit_status == 2


def test_the_patience_is_30_s_unless_set() -> None:
    unset = {name: value for name, value in ENVIRONMENT.items() if name != "ASARA_PATIENCE_S"}
    assert Settings().complete(unset).patience_s == 30
    with pytest.raises(ConfigurationError, match="patience_s is -1: expected 0 or more"):
        Settings(patience_s=-1).complete(unset)


def test_no_matches_at_once() -> None:
    with pytest.raises(ConfigurationError, match="max_matches is 0"):
        Settings(max_matches=0).complete(ENVIRONMENT)
