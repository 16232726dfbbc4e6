"""The sandbox of this machine."""

import pytest

from asara_server.tournament.sandbox.bubblewrap import Sandbox
from tests.tournament.sandbox_config import sandbox_or_skip


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return sandbox_or_skip()
