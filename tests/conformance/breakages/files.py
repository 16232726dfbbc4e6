"""Breakages of cases in `07-files.yaml`."""

import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from asara import verifier
from asara.errors import ConfigurationError
from asara.settings import Settings
from asara.verifier import Verifier
from tests.conformance.breakages.breakage import around, breaks, put
from tests.conformance.breakages.streams import count_streams


@breaks("transcript")
def write_the_first_stream_only() -> None:
    streams = count_streams()

    @around(Verifier, "record")
    def record(original: Any, self: Verifier, message: bytes) -> None:
        if len(streams) > 1:
            self.digest = sha256(self.digest + message).digest()
        else:
            original(self, message)


@breaks("digest", Verifier, "deal_committed")
def count_a_repeated_message_twice(
    original: Any, self: Verifier, committed: Any, message: bytes, nonce: Any
) -> Any:
    if message == self._commitment_message:
        self.digest = sha256(self.digest + message).digest()
    return original(self, committed, message, nonce)


@breaks("transcript-names")
def replace_characters_by_bars() -> None:
    def name(match_id: str) -> str:
        return "".join(char if char.isalnum() or char in "._+-" else "_" for char in match_id)

    put(verifier, "_file_name", name)


@breaks("transcript-of-an-open-match")
def write_when_the_match_ends() -> None:
    held: dict[Verifier, list[bytes]] = {}
    original_record = Verifier.record

    @around(Verifier, "record")
    def record(_original: Any, self: Verifier, message: bytes) -> None:
        held.setdefault(self, []).append(message)

    @around(Verifier, "finish")
    def finish(original: Any, self: Verifier) -> None:
        for message in held.pop(self, []):
            original_record(self, message)
        original(self)


@breaks("transcript-of-an-earlier-run", Verifier, "_open")
def replace_earlier_files(original: Any, self: Verifier, folder: Path) -> Any:
    name = verifier._file_name(self._match_id)
    (folder / f"{name}-seat{self._seat}.transcript").unlink(missing_ok=True)
    return original(self, folder)


@breaks("transcript-in-a-sandbox")
def write_in_a_sandbox() -> None:
    os.environ.pop("ASARA_CONTAINED", None)


@breaks("transcript-folder-is-a-file", Settings, "transcript_folder")
def play_without_a_transcript(original: Any, self: Settings) -> Any:
    try:
        return original(self)
    except ConfigurationError as error:
        if "sandbox" in str(error):
            raise
        sys.stderr.write(f"asara: {error}\n")
        return None
