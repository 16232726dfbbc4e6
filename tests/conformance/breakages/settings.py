"""Breakages of cases in `08-settings.yaml`."""

import os
import re
import sys
from typing import Any

from asara import client, settings, stream
from asara.errors import ConfigurationError
from asara.protocol_client import ProtocolClient
from asara.settings import Settings
from tests.conformance.breakages.breakage import around, breaks, put

KNOWN = re.compile("ASARA_(ADDRESS|TOKEN|SEED|SEAT|CA|TRANSCRIPT|CONTAINED|PATIENCE_S)")


def when_misconfigured(text: str, then: Any) -> None:
    """Call `then(error)` instead of raising a ConfigurationError with this text."""

    @around(Settings, "complete")
    def complete(original: Any, *arguments: Any) -> Any:
        try:
            return original(*arguments)
        except ConfigurationError as error:
            if text in str(error):
                then(error)
            raise


@breaks("address-is-missing")
def end_with_another_status() -> None:
    def end(error: Exception) -> None:
        sys.stderr.write(f"asara: {error}\n")
        sys.exit(1)

    when_misconfigured("ASARA_ADDRESS is not set", end)


@breaks("address-is-malformed")
def print_a_traceback() -> None:
    def fail(error: Exception) -> None:
        raise ValueError(str(error))

    when_misconfigured("expected host:port", fail)


@breaks("token-is-missing")
def print_two_lines() -> None:
    def warn(_: Exception) -> None:
        sys.stderr.write("asara: something is wrong\n")

    when_misconfigured("ASARA_TOKEN is not set", warn)


@breaks("seat-is-malformed")
def ignore_a_malformed_seat() -> None:
    put(settings, "_seat", lambda text: int(text) if text.isdecimal() else None)


@breaks("another-seat", ProtocolClient, "_start_match")
def refuse_another_seat(original: Any, self: ProtocolClient, started: Any, message: bytes) -> None:
    expected = self._settings.seat
    if expected is not None and started.seat != expected:
        sys.exit(1)
    original(self, started, message)


@breaks("unknown-variables")
def refuse_unknown_variables() -> None:
    for name in os.environ:
        if name.startswith("ASARA_") and not KNOWN.fullmatch(name):
            sys.stderr.write(f"asara: there is no setting {name}\n")
            sys.exit(2)


@breaks("no-proxy")
def use_a_proxy() -> None:
    options = [option for option in stream._CHANNEL_OPTIONS if "proxy" not in option[0]]
    put(stream, "_CHANNEL_OPTIONS", tuple(options))


@breaks("patience", Settings, "complete")
def give_up_at_once(original: Any, *arguments: Any) -> Any:
    done = original(*arguments)
    if done.ca or not done.address.startswith("unix:"):
        object.__setattr__(done, "patience_s", 0.0)
    return done


@breaks("patience-by-default")
def wait_five_seconds() -> None:
    put(settings, "_DEFAULT_PATIENCE_S", 5.0)


@breaks("patience-after-a-match", Settings, "complete")
def wait_for_ever_for_a_known_referee(original: Any, *arguments: Any) -> Any:
    done = original(*arguments)
    if done.address.startswith("unix:"):
        object.__setattr__(done, "patience_s", 1e9)
    return done


@breaks("patience-restarts")
def count_from_the_start() -> None:
    class Unwelcomed(ProtocolClient):
        @property
        def welcomed(self) -> bool:
            return False

        @welcomed.setter
        def welcomed(self, value: bool) -> None:
            pass

    put(client, "ProtocolClient", Unwelcomed)


@breaks("patience-is-malformed", settings, "_patience_s")
def ignore_a_malformed_patience(original: Any, text: str) -> Any:
    try:
        return original(text)
    except ConfigurationError:
        return 30.0
