"""Generated code has the same names in every language, whichever file a message is in."""

from typing import Any

import pytest

from asara.v1 import event_pb2, play_pb2, replay_pb2, view_pb2, vocabulary_pb2, watch_pb2

FILES = [event_pb2, play_pb2, replay_pb2, view_pb2, vocabulary_pb2, watch_pb2]


@pytest.mark.parametrize("file", FILES)
def test_every_file_names_one_package_in_each_language(file: Any) -> None:
    options = file.DESCRIPTOR.GetOptions()
    assert options.java_package == "asara.v1"
    assert options.csharp_namespace == "Asara.V1"
    assert options.php_namespace == "Asara\\V1"
    assert options.php_metadata_namespace == "Asara\\V1\\Metadata"
    assert options.ruby_package == "Asara::V1"
    assert options.objc_class_prefix == "ASR"
    # In Java, each message has a class, and the file a name of its own.
    assert options.java_multiple_files
    taken = {*file.DESCRIPTOR.message_types_by_name, *file.DESCRIPTOR.enum_types_by_name}
    assert options.java_outer_classname.endswith("Proto")
    assert options.java_outer_classname not in taken
