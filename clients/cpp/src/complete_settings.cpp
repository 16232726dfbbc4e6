#include "complete_settings.hpp"

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <regex>
#include <sstream>
#include <system_error>
#include <utility>

#include "asara/error.hpp"

namespace asara::detail {
namespace {

constexpr double default_patience_s = 30;

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<int> parse_seat(const std::string& text) {
    if (text.empty()) {
        return std::nullopt;
    }
    int seat = 0;
    const auto* const end = text.data() + text.size();
    if (!is_number(text) || std::from_chars(text.data(), end, seat).ec != std::errc{}) {
        throw ConfigurationError("ASARA_SEAT is '" + text + "': expected a seat number");
    }
    return seat;
}

double parse_patience(const std::string& text) {
    static const std::regex decimal("[0-9]+(\\.[0-9]+)?");
    if (text.empty()) {
        return default_patience_s;
    }
    double seconds = 0;
    const auto* const end = text.data() + text.size();
    if (!std::regex_match(text, decimal) ||
        std::from_chars(text.data(), end, seconds).ec != std::errc{}) {
        throw ConfigurationError(
            "ASARA_PATIENCE_S is '" + text + "': expected seconds, such as 30 or 0.5"
        );
    }
    return seconds;
}

void check_address(const std::string& address) {
    const auto colon = address.rfind(':');
    const bool has_port =
        colon != std::string::npos && colon > 0 && is_number(address.substr(colon + 1));
    if (!address.starts_with("unix:") && !has_port) {
        throw ConfigurationError(
            "ASARA_ADDRESS is '" + address + "': expected host:port or unix:/path"
        );
    }
}

void check_present(const Settings& settings) {
    std::string missing = settings.address.empty() ? "ASARA_ADDRESS" : "";
    if (settings.token.empty()) {
        missing += missing.empty() ? "ASARA_TOKEN" : " and ASARA_TOKEN";
    }
    if (!missing.empty()) {
        const auto* const verb = settings.address.empty() && settings.token.empty() ? "are" : "is";
        throw ConfigurationError(
            missing + " " + verb +
            " not set: start this bot with `asara match`, or set ASARA_ADDRESS "
            "(host:port or unix:/path) and ASARA_TOKEN"
        );
    }
}

void log_to_standard_error(std::string_view line) {
    // In one write, so that lines of several processes do not mix.
    std::cerr << std::string(line) + '\n';
}

}  // namespace

std::string process_environment(const char* name) {
    const auto* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
    return value == nullptr ? "" : value;
}

Settings complete(Settings settings, const Environment& environment) {
    const auto fill = [&](std::string& value, const char* name) {
        if (value.empty()) {
            value = environment(name);
        }
    };
    fill(settings.address, "ASARA_ADDRESS");
    fill(settings.token, "ASARA_TOKEN");
    fill(settings.seed, "ASARA_SEED");
    fill(settings.ca, "ASARA_CA");
    fill(settings.transcript, "ASARA_TRANSCRIPT");
    if (!settings.seat) {
        settings.seat = parse_seat(environment("ASARA_SEAT"));
    }
    if (!settings.patience_s) {
        settings.patience_s = parse_patience(environment("ASARA_PATIENCE_S"));
    }
    check_present(settings);
    check_address(settings.address);
    if (settings.max_matches < 1) {
        throw ConfigurationError(
            "max_matches is " + std::to_string(settings.max_matches) + ": expected 1 or more"
        );
    }
    if (!(*settings.patience_s >= 0)) {
        std::ostringstream text;
        text << "patience_s is " << *settings.patience_s << ": expected 0 or more";
        throw ConfigurationError(text.str());
    }
    if (!settings.log) {
        settings.log = log_to_standard_error;
    }
    return settings;
}

std::string read_certificate(const std::string& path) {
    std::string pem;
    errno = std::filesystem::is_directory(path) ? EISDIR : 0;
    if (std::ifstream file(path, std::ios::binary); errno == 0 && file) {
        pem.assign(std::istreambuf_iterator<char>(file), {});
    }
    if (errno != 0) {
        throw ConfigurationError(
            "ASARA_CA: cannot read '" + path + "' (" + std::generic_category().message(errno) +
            "); expected the certificate of the authority that signed the referee's certificate"
        );
    }
    const std::unique_ptr<BIO, decltype(&BIO_free)> content(
        BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free
    );
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(
        PEM_read_bio_X509(content.get(), nullptr, nullptr, nullptr), &X509_free
    );
    if (certificate == nullptr) {
        throw ConfigurationError("ASARA_CA: '" + path + "' contains no PEM certificate");
    }
    return pem;
}

std::optional<std::filesystem::path> transcript_folder(
    const Settings& settings, const Environment& environment
) {
    if (settings.transcript.empty()) {
        return std::nullopt;
    }
    if (!environment("ASARA_CONTAINED").empty()) {
        throw ConfigurationError(
            "a transcript is asked for, but the sandbox of this bot is deleted with everything in "
            "it; play with --sandbox none, or without the transcript"
        );
    }
    std::error_code fault;
    std::filesystem::path folder = settings.transcript;
    std::filesystem::create_directories(folder, fault);
    if (!fault && !std::filesystem::is_directory(folder)) {
        fault = std::make_error_code(std::errc::file_exists);
    }
    if (fault) {
        throw ConfigurationError(
            "ASARA_TRANSCRIPT: cannot create the folder '" + folder.string() + "' (" +
            fault.message() + "); choose a writable one"
        );
    }
    return folder;
}

std::string shorten(std::string text, std::size_t limit) {
    if (text.size() <= limit) {
        return text;
    }
    const auto continues = [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80;
    };
    while (limit > 0 && continues(text[limit])) {
        --limit;
    }
    text.resize(limit);
    return text;
}

}  // namespace asara::detail
