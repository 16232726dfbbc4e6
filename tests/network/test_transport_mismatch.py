"""A bot that uses plain text where TLS is expected, or the reverse, learns so in one line."""

import asyncio

import pytest
from structlog.testing import capture_logs

from asara import ConfigurationError, Settings, play
from asara.transport import transport_fault
from asara_server.network.grpc_server import serve
from asara_server.referee.referee import Referee
from tests.network.served import TLS, Tokens

CASES = {
    "TLS as plain text": (TLS, None, "uses TLS, and ASARA_CA is not set: set it to the file"),
    "plain text as TLS": (None, TLS.certificate, "uses no TLS, and ASARA_CA is set: unset"),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_bot_with_the_wrong_transport_ends_with_one_line_and_the_log_names_it(case):
    tls, ca, told = CASES[case]
    with capture_logs() as logged:
        referee = Referee()
        running = await serve(referee, "localhost:0", tls=tls, authenticator=Tokens())
        settings = Settings(address=running.address, token="secret-a", ca=ca, patience_s=20)
        try:
            with pytest.raises(ConfigurationError, match=told) as caught:
                await asyncio.to_thread(
                    play, lambda decision, _: decision.legal_actions[0], settings
                )
        finally:
            await referee.stop(finish_s=0)
            await running.stop(0)
    assert "\n" not in str(caught.value)
    assert "secret-a" not in str(logged)
    (line,) = [line for line in logged if line["event"] == "connection refused"]
    assert line["client"] in {"127.0.0.1", "::/64"}
    assert "ASARA_CA" in line["detail"]


@pytest.mark.parametrize("address", ["unix:/none", "localhost:1", "localhost:none", "[::1]:1"])
def test_an_address_where_nothing_listens_has_no_wrong_transport(address):
    assert transport_fault(address, tls=True) == transport_fault(address, tls=False) == ""
