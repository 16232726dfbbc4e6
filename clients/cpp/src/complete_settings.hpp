#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "asara/settings.hpp"

namespace asara::detail {

// Returns the value of an environment variable; empty if it is not set.
using Environment = std::function<std::string(const char*)>;

std::string process_environment(const char* name);

// Settings completed from the environment; throws ConfigurationError if they are invalid.
Settings complete(Settings settings, const Environment& environment = process_environment);

// Content of the file of Settings::ca; throws ConfigurationError unless it is a certificate.
std::string read_certificate(const std::string& path);

// The folder for transcripts, created if needed; throws ConfigurationError.
std::optional<std::filesystem::path> transcript_folder(
    const Settings& settings, const Environment& environment = process_environment
);

// The text truncated to at most `limit` bytes, at the end of a character.
std::string shorten(std::string text, std::size_t limit);

}  // namespace asara::detail
