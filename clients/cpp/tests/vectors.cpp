#include "vectors.hpp"

#include <google/protobuf/util/json_util.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace asara::testing {

const google::protobuf::Value& member(const google::protobuf::Value& object, const char* name) {
    return object.struct_value().fields().at(name);
}

google::protobuf::Value read_vectors(const std::string& file) {
    std::ifstream stream(std::string(VECTORS "/") + file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    google::protobuf::Value value;
    if (!google::protobuf::util::JsonStringToMessage(text, &value).ok()) {
        throw std::runtime_error("cannot read tests/vectors/" + file);
    }
    return value;
}

std::string from_hex(std::string_view digits) {
    std::string bytes;
    for (std::size_t index = 0; index < digits.size(); index += 2) {
        bytes += static_cast<char>(std::stoi(std::string(digits.substr(index, 2)), nullptr, 16));
    }
    return bytes;
}

}  // namespace asara::testing
