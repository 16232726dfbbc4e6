#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "asara/match.hpp"

namespace asara::detail {

// SHA-256 of the parts, one after another.
Digest sha256(std::initializer_list<std::string_view> parts);

std::string hmac_sha256(std::string_view key, std::string_view message);

std::string random_bytes(int count);

// The digest as the bytes of a text.
std::string_view view_of(const Digest& digest);

}  // namespace asara::detail
