#pragma once

#include <stdexcept>
#include <string>

namespace asara {

// Base class of all errors of this library; what() is a single line.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& text, int exit_status = 1)
        : std::runtime_error(text), exit_status_(exit_status) {}

    // Exit status of a bot that asara::run ends because of this error.
    [[nodiscard]] int exit_status() const noexcept { return exit_status_; }

private:
    int exit_status_;
};

// A setting is missing or invalid.
class ConfigurationError : public Error {
public:
    explicit ConfigurationError(const std::string& text) : Error(text, 2) {}
};

// The author's program misuses this library: for example, decide returned an empty list.
class BotError : public Error {
public:
    explicit BotError(const std::string& text) : Error(text) {}
};

// The referee ended the stream for a reason that a new connection would not change.
class RefusedError : public Error {
public:
    RefusedError(
        const std::string& address, std::string code, std::string reason, const std::string& detail
    );

    // Name of the gRPC status, such as "UNAUTHENTICATED".
    [[nodiscard]] const std::string& code() const noexcept { return code_; }
    // The referee's asara-reason, such as "unknown-token"; empty if it sent none.
    [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

private:
    std::string code_;
    std::string reason_;
};

// No referee could be reached for longer than Settings::patience_s.
class ConnectionLostError : public Error {
public:
    ConnectionLostError(const std::string& address, double patience_s, const std::string& detail);
};

}  // namespace asara
