import pytest

from asara_codec.wire_format import read_varint, varint


@pytest.mark.parametrize("power", [0, 6, 7, 13, 14, 20, 21, 27, 28, 35, 62, 63])
def test_a_number_is_read_as_it_was_written(power: int) -> None:
    for number in (2**power - 1, 2**power):
        data = varint(number)
        assert read_varint(b"before" + data + b"behind", 6) == (number, 6 + len(data))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x80", id="cut short"),
        pytest.param(b"\x80\x00", id="longer than it has to be"),
        pytest.param(b"\x80" * 10 + b"\x01", id="more than ten bytes"),
    ],
)
def test_other_bytes_are_no_number(data: bytes) -> None:
    with pytest.raises(IndexError):
        read_varint(data, 0)
