"""Tables of inputs and sentences, as plain text."""

import re


def pairs_of(text: str) -> list[tuple[str, str]]:
    """Return the pairs of a table: lines of an input, and the sentence indented below them.

    A sentence may have several lines; "|" begins another sentence.
    """
    pairs = []
    for pair in re.findall(r"(?:^\S.*\n)+(?:^    .*\n)+", text, re.MULTILINE):
        end = pair.index("\n    ") + 1
        sentences = " ".join(line.strip() for line in pair[end:].splitlines())
        pairs.append((pair[:end], sentences.replace(" | ", "\n")))
    return pairs
