#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>

namespace asara::detail {

// The words of a text.
std::deque<std::string> split(std::string_view text);

std::string join(const std::deque<std::string>& words, std::string_view separator);

// The words of a text, separated by single spaces; "no details" if it has none.
std::string one_line(std::string_view text);

// The text without a prefix, in lower case, with spaces for underscores if so wanted: the word for
// an enum value.
std::string enum_word(std::string_view name, std::string_view prefix, bool spaces = false);

std::string hex(std::span<const unsigned char> bytes);

inline std::span<const unsigned char> bytes_of(std::string_view text) {
    // NOLINTNEXTLINE(*-reinterpret-cast): any object may be read as bytes
    return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

}  // namespace asara::detail
