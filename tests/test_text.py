import pytest

from asara_server.text import LONGEST, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("greedy 2.0", "greedy 2.0"),
        ("Zoë Łukasz 李 שלום", "Zoë Łukasz 李 שלום"),
        ("a\nb\tc\r", r"a\u000ab\u0009c\u000d"),
        ("\x00\x1b[2J\x7f\x85", r"\u0000\u001b[2J\u007f\u0085"),
        ("\u202efdp.exe", r"\u202efdp.exe"),
        ("a\u200bb\ufeff\u2028", r"a\u200bb\ufeff\u2028"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
        ("a\u00a0b\u3000c", "a b c"),
    ],
)
def test_what_nobody_sees_is_told_by_its_number(text, shown):
    assert plain(text) == shown


def test_what_is_longer_than_people_read_is_cut_with_a_mark():
    assert plain("x" * LONGEST) == "x" * LONGEST
    assert plain("x" * (LONGEST + 1)) == "x" * LONGEST + "…"
    assert plain("x" * 65, longest=64) == "x" * 64 + "…"
    assert plain("x" * 1_000, longest=None) == "x" * 1_000
    assert len(plain("\0" * 10_000_000)) <= 6 * LONGEST + 1
