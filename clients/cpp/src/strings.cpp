#include "strings.hpp"

#include <array>
#include <cctype>
#include <sstream>

namespace asara::detail {

std::deque<std::string> split(std::string_view text) {
    std::istringstream stream{std::string(text)};
    std::deque<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    return words;
}

std::string join(const std::deque<std::string>& words, std::string_view separator) {
    std::string text;
    for (const auto& word : words) {
        text.append(text.empty() ? "" : separator).append(word);
    }
    return text;
}

std::string one_line(std::string_view text) {
    const auto words = split(text);
    return words.empty() ? "no details" : join(words, " ");
}

std::string enum_word(std::string_view name, std::string_view prefix, bool spaces) {
    if (name.starts_with(prefix)) {
        name.remove_prefix(prefix.size());
    }
    std::string word;
    for (const char character : name) {
        const auto lower = std::tolower(static_cast<unsigned char>(character));
        word += spaces && character == '_' ? ' ' : static_cast<char>(lower);
    }
    return word;
}

std::string hex(std::span<const unsigned char> bytes) {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const auto byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

}  // namespace asara::detail
