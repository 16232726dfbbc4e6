"""The deal, written down again from its description, as slowly and plainly as possible.

It shares no line with the rules engine and reads the edition file as bare TOML; what
`tests/vectors/deal.json` holds comes from here, and the engine has to agree.
"""

import hashlib
import tomllib
from importlib import resources
from typing import Any

KINDS = ("base", "trunk", "window", "turret")
COLOURS = ("brown", "green", "red", "black", "white")
BUYERS = ("blue", "yellow", "purple", "green", "orange")


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    """RFC 2104 for keys of up to 64 bytes."""
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in padded) + message).digest()
    return hashlib.sha256(bytes(b ^ 0x5C for b in padded) + inner).digest()


def block(secret: bytes, label: str, number: int) -> bytes:
    """The block of this number in the stream of a label."""
    return hmac_sha256(secret, label.encode("utf-8") + b"\0" + number.to_bytes(4, "big"))


def shuffle(secret: bytes, label: str, items: list[Any]) -> int:
    """Shuffle in place; return the number of words that were too large to be used."""
    words: list[int] = []
    blocks = rejected = 0
    for i in range(len(items) - 1, 0, -1):
        while True:
            if not words:
                digest = block(secret, label, blocks)
                blocks += 1
                words = [int.from_bytes(digest[at : at + 4], "big") for at in range(0, 32, 4)]
            word = words.pop(0)
            if word < 2**32 // (i + 1) * (i + 1):
                break
            rejected += 1
        j = word % (i + 1)
        items[i], items[j] = items[j], items[i]
    return rejected


def edition() -> dict[str, Any]:
    """The shipped edition file."""
    return tomllib.loads(resources.files("asara_game").joinpath("edition.toml").read_text())


def set_up(secret: bytes, rule_sets: str, seats: int) -> dict[str, Any]:
    """The table at the first decision of a match.

    Piles are written from the top down, so the next one to be drawn comes first.
    """
    numbers = edition()
    names = rule_sets.split("+")
    found: dict[str, Any] = {"displays": {}, "piles": {}}
    for kind in KINDS:
        pile = []
        for colour in COLOURS:
            plain, gold = numbers["tiles"][kind][colour]
            pile += [f"{colour} {kind}"] * plain + [f"{colour} {kind} gold"] * gold
        order = sorted(set(pile), key=pile.index)
        shuffle(secret, f"{kind}/0", pile)
        shown = [pile.pop() for _ in range(numbers["market"]["display"])]
        found["displays"][kind] = sorted(shown, key=order.index)
        found["piles"][kind] = pile[::-1]

    buyers = [colour for colour in BUYERS for _ in range(numbers["buyers"][colour])]
    shuffle(secret, "buyers/0", buyers)
    size = numbers["hand_size"][str(seats)]
    hands = [[buyers.pop() for _ in range(size)] for _ in range(seats)]
    found["hands"] = [sorted(hand, key=BUYERS.index) for hand in hands]
    found["buyer_pile"] = buyers[::-1]

    lit = []
    if "pro" in names:
        lit = [colour for colour in COLOURS for _ in range(numbers["lit_windows"][colour])]
        shuffle(secret, "lit-windows/0", lit)
    found["lit_window_stack"] = lit[::-1]

    cards, chests = [], []
    if "gifts" in names:
        for table in ("gifts", "gifts_professional") if "pro" in names else ("gifts",):
            chests += numbers[table]["chests"]
            for row in numbers[table]["cards"]:
                detail = row.get("asari") or row.get("prestige") or row.get("section_kind") or ""
                cards += [f"{row['kind']} {detail}".strip()] * row["count"]
        shuffle(secret, "gifts/0", cards)
    found["gifts"] = {chest: cards.pop() for chest in chests}
    found["gift_deck"] = cards[::-1]
    return found


_ABOUT = """\
Vectors of the deal. Written by: python -m tests.vectors.regenerate

A stream of words belongs to a secret (32 bytes, hex) and a label. Block n is HMAC-SHA256 with the
secret as key over label, a zero byte, and n as 32 bits, big end first; it holds eight words of 32
bits, big end first.

A list is shuffled from its end: for i from its last index down to 1, take words until one is below
the largest multiple of i + 1 that is not above 2^32, and exchange item i with item
(word mod (i + 1)).

shuffles: the order of the numbers 0 to length - 1. long_shuffles: the SHA-256 of that order, each
number as 32 bits, big end first; here some words are too large and are passed over.

set_ups: label and contents before the shuffle. base/0, trunk/0, window/0, turret/0: sections by
colour (brown, green, red, black, white), plain before gold. buyers/0: by colour (blue, yellow,
purple, green, orange). lit-windows/0: by colour. gifts/0: the cards in the order of the edition
file. The number after the slash counts that thing's shuffles in the match.

The end of a list is the top: seat 0's hand is drawn first, then seat 1's; displays are drawn from
the top of the piles, and gift cards for the chests in the order of the edition file. Piles stand
here from the top down; hands and displays are sorted.
""".splitlines()

_SECRETS = (bytes(32), bytes(range(32)), hashlib.sha256(b"asara").digest())
_LABELS = ("base/0", "buyers/0", "buyers/12", "lit-windows/1", "gifts/0", "", "ü/3")
_LENGTHS = (0, 1, 2, 3, 7, 8, 9, 10, 20, 45)
_SET_UPS = (("basic", 2), ("basic", 3), ("pro", 4), ("basic+gifts", 3), ("pro+gifts+genie", 4))


def vectors() -> dict[str, Any]:
    """The contents of `tests/vectors/deal.json`."""
    blocks = [
        {"secret": s.hex(), "label": label, "block": n, "digest": block(s, label, n).hex()}
        for s in _SECRETS
        for label in _LABELS
        for n in (0, 1, 300)
    ]
    shuffles = []
    for number, secret in enumerate(_SECRETS):
        for label in _LABELS[number:]:
            for length in _LENGTHS:
                order = list(range(length))
                shuffle(secret, label, order)
                row = {"secret": secret.hex(), "label": label, "length": length, "order": order}
                shuffles.append(row)
    set_ups = []
    for secret in _SECRETS:
        for rule_sets, seats in _SET_UPS:
            row = {"secret": secret.hex(), "commitment": hashlib.sha256(secret).hexdigest()}
            row |= {"rule_sets": rule_sets, "seats": seats}
            set_ups.append(row | set_up(secret, rule_sets, seats))
    return {
        "about": _ABOUT,
        "edition_sha256": edition_sha256(),
        "blocks": blocks,
        "shuffles": shuffles,
        "long_shuffles": [long_shuffle(f"long/{n}") for n in (1, 2)],
        "set_ups": set_ups,
    }


def edition_sha256() -> str:
    """SHA-256 of the edition of the set-ups."""
    data = resources.files("asara_game").joinpath("edition.toml").read_bytes()
    return hashlib.sha256(data).hexdigest()


def long_shuffle(label: str) -> dict[str, Any]:
    """A list so long that some words have to be skipped."""
    secret, length = _SECRETS[1], 60_000
    order = list(range(length))
    rejected = shuffle(secret, label, order)
    digest = hashlib.sha256(b"".join(n.to_bytes(4, "big") for n in order)).hexdigest()
    row = {"secret": secret.hex(), "label": label, "length": length}
    return row | {"words_passed_over": rejected, "sha256": digest}
