#pragma once

#include <google/protobuf/struct.pb.h>

#include <string>
#include <string_view>

namespace asara::testing {

// A member of an object of JSON, by its name.
const google::protobuf::Value& member(const google::protobuf::Value& object, const char* name);

// Content of a file of tests/vectors.
google::protobuf::Value read_vectors(const std::string& file);

// The bytes of hexadecimal digits.
std::string from_hex(std::string_view digits);

}  // namespace asara::testing
