"""What all tests share: they neither read nor write the user's own configuration.

Bots run unconfined, so that the tests run everywhere; tests of the sandbox ask for it.
"""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _own_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("ASARA_SANDBOX", "none")
        yield
