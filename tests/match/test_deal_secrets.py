"""Secrets of deals, as another language would derive them."""

import json
from pathlib import Path
from typing import Any

import pytest

from asara_game.deal import Deal
from asara_server.match import deal_secrets

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "joint_deal.json").read_text())


@pytest.mark.parametrize("vector", VECTORS["deals"], ids=lambda v: v["match_id"])
def test_secrets_commitments_and_shuffles_follow_the_vectors(vector: dict[str, Any]) -> None:
    tournament = deal_secrets.tournament_secret(vector["seed"])
    secret = deal_secrets.secret_of(tournament, vector["match_id"], vector["shared_deal"])
    shared = deal_secrets.deal_secret(secret, [bytes.fromhex(nonce) for nonce in vector["nonces"]])
    order = list(range(20))
    Deal(shared).shuffle("buyers/0", order)
    assert {
        "tournament_secret": tournament.hex(),
        "tournament_commitment": deal_secrets.commitment(tournament).hex(),
        "match_secret": secret.hex(),
        "deal_commitment": deal_secrets.commitment(secret).hex(),
        "deal_secret": shared.hex(),
        "buyers_0_of_20": order,
    }.items() <= vector.items()


def test_a_shared_deal_has_one_secret_which_is_that_of_no_match() -> None:
    shared = {v["match_secret"] for v in VECTORS["deals"] if v["shared_deal"]}
    assert len(shared) == 1 < sum(bool(v["shared_deal"]) for v in VECTORS["deals"])
    tournament = deal_secrets.tournament_secret("spring")
    names = ("r1-basic-0001", "r1-basic-0001-1", "r1-basic-0002")
    secrets = {deal_secrets.secret_of(tournament, *one) for n in names for one in ((n,), ("", n))}
    assert len(secrets) == 2 * len(names)


def test_every_nonce_and_its_seat_make_another_deal() -> None:
    secret, one, two = bytes(32), b"1" * 32, b"2" * 32
    shares = [(), (one, two), (two, one), (one, b""), (b"", one), (b"", b""), (one, one)]
    assert len({deal_secrets.deal_secret(secret, nonces) for nonces in shares}) == len(shares)
    assert deal_secrets.deal_secret(secret) == secret


def test_a_secret_or_nonce_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="the secret of the deal has 31 bytes, not 32"):
        deal_secrets.deal_secret(bytes(31))
    with pytest.raises(ValueError, match="the nonce of seat 1 has 31 bytes, not 32"):
        deal_secrets.deal_secret(bytes(32), (bytes(32), bytes(31)))
