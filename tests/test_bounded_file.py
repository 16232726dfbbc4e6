from pathlib import Path

import pytest

from asara_server.bounded_file import read_lines


def test_a_line_that_is_too_long_is_an_error_and_not_two_lines(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"1234\n5678\n")
    assert list(read_lines(file, 5)) == [b"1234\n", b"5678\n"]
    lines = read_lines(file, 4)
    with pytest.raises(OSError, match="has a line of more than 4 bytes"):
        next(lines)
