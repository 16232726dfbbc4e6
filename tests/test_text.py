import pytest

from asara_server.text import LONGEST, plain, without_paths


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no such file /home/anna/cup/bots/main.py", "no such file …/main.py"),
        ('File "/home/anna/cup/main.py", line 3, in decide', 'File "…/main.py", line 3, in decide'),
        ('File "/Users/Anna Lee/my cup/main.py", line 3', 'File "…/main.py", line 3'),
        ("/srv/cup/bot.js:12:7: SyntaxError", "…/bot.js:12:7: SyntaxError"),
        ("at Object.<anonymous> (/srv/cup/bot.js:1:7)", "at Object.<anonymous> (…/bot.js:1:7)"),
        ("file:///home/anna/cup/bot.mjs:2", "…/bot.mjs:2"),
        ("PATH=/home/anna/bin:/usr/bin:/opt/anna/bin", "PATH=…/bin:/usr/bin:…/bin"),
        ("cc -I/home/anna/include -L/srv/cup/lib -o x", "cc -I…/include -L…/lib -o x"),
        ("--prefix=/home/anna/.local", "--prefix=…/.local"),
        ("cannot enter /home/anna", "cannot enter …"),
        ("cannot enter '/Users/anna'", "cannot enter '…'"),
        (
            "make: *** [/home/anna/cup/Makefile:3: all] Error 1",
            "make: *** […/Makefile:3: all] Error 1",
        ),
        ("//home/anna/cup/x.py and /home//anna//x.py", "…/x.py and …/x.py"),
    ],
)
def test_absolute_paths_lose_all_but_the_last_name(text, shown):
    assert without_paths(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "exited with status 1",
        "bots/tom/main.py: no such file '../tom/x' or './bin/y' or ~/z/w",
        "No module named 'numpy' in /usr/lib/python3.11/site-packages/x.py",
        "https://example.org/a/b and http://127.0.0.1:5000/a/b",
        "3/4 of all, and/or 1 / 2",
        "s/foo/bar/ and /x",
        "logs/r1-basic-0001/tom.log",
    ],
)
def test_other_text_keeps_its_slashes(text):
    assert without_paths(text) == text


def test_a_private_directory_may_have_blanks_and_stand_without_quotation_marks():
    private = ["/Users/Anna Lee/my cup", "/Users/Anna Lee"]
    assert without_paths("no /Users/Anna Lee/my cup/bots/x.py", private) == "no …/x.py"
    assert without_paths("in /Users/Anna Lee/my cup: no x", private) == "in …: no x"
    assert without_paths("in /Users/Anna Lee/my cupboard/x", private) == "in …/my cupboard/x"


def test_no_separator_of_lines_or_paragraphs_is_left() -> None:
    for char in "\n\r\v\f\x1c\x85\u2028\u2029":
        shown = plain(f"one{char}two")
        assert len(shown.splitlines()) == 1
        assert shown == f"one\\u{ord(char):04x}two"
