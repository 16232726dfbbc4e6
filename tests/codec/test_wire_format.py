import pytest

from asara_codec.decode import reply_from_bytes
from asara_codec.wire_format import read_varint, varint
from tests.yardstick import at_most


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


@pytest.mark.parametrize("head", [b"", b"\x12", b"\x12" + varint(65_532) + b"\x0a\x02m1\x10"])
def test_an_endless_number_is_refused_in_no_time(head: bytes) -> None:
    """A number of 64 KiB, as a length or as the id of a decision, costs as much as a short one.

    Reading one took three reference loops when its bytes were added up to the end.
    """
    data = head + b"\xff" * (65_536 - len(head))
    with at_most(3):
        for _ in range(100):
            assert reply_from_bytes(data) is None
