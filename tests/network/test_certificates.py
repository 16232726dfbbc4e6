"""The certificate that the documents make is accepted by the libraries that bots use."""

import asyncio
import shlex
import shutil
import subprocess

import pytest
from cryptography.x509 import BasicConstraints, load_pem_x509_certificate

from asara import RefusedError, Settings, play
from asara_server.network.grpc_server import serve
from asara_server.network.tls import TlsFiles
from asara_server.referee.referee import Referee
from tests.docs.documents import blocks
from tests.network.served import Tokens


@pytest.fixture
def tls(tmp_path):
    """The files that the command of the documents makes, for localhost."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    (command,) = [
        block.content
        for block in blocks("server/asara_server/network/README.md", "sh")
        if block.content.startswith("openssl")
    ]
    words = shlex.split(command.replace("cup.example.org", "localhost").replace("\\\n", ""))
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    return TlsFiles(tmp_path / "cert.pem", tmp_path / "key.pem")


def test_it_is_no_authority_and_its_key_is_private(tls):
    certificate = load_pem_x509_certificate(tls.certificate.read_bytes())
    basic = certificate.extensions.get_extension_for_class(BasicConstraints)
    assert (basic.critical, basic.value.ca) == (True, False)
    assert tls.key.stat().st_mode & 0o077 == 0


@pytest.mark.long
async def test_grpc_accepts_it(tls):
    referee = Referee()
    running = await serve(referee, "localhost:0", tls=tls, authenticator=Tokens())
    settings = Settings(address=running.address, token="nobody", ca=tls.certificate)
    try:
        with pytest.raises(RefusedError, match="unknown-token"):
            await asyncio.to_thread(play, lambda decision, _: decision.legal_actions[0], settings)
    finally:
        await referee.stop(finish_s=0)
        await running.stop(0)
