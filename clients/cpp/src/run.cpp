#include "asara/run.hpp"

#include <cxxabi.h>
#include <grpc/support/log.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <typeinfo>
#include <utility>

#include "asara/error.hpp"
#include "complete_settings.hpp"
#include "play_stream.hpp"
#include "protocol_client.hpp"
#include "strings.hpp"
#include "transport_fault.hpp"

namespace asara {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds first_pause{0.1};
constexpr Seconds longest_pause{2.0};

// After any other status a new stream would only end in the same way.
bool retryable(const detail::StreamEnd& end) {
    static const std::set<grpc::StatusCode> codes{
        grpc::StatusCode::OK,  // without a goodbye
        grpc::StatusCode::CANCELLED, grpc::StatusCode::DEADLINE_EXCEEDED,
        grpc::StatusCode::INTERNAL,  grpc::StatusCode::UNAVAILABLE,
        grpc::StatusCode::UNKNOWN,
    };
    // The reason of another status after which a new stream may be accepted a little later.
    return codes.contains(end.status.error_code()) || end.reason == "too-many-streams";
}

class DecideFunctionBot : public Bot {
public:
    explicit DecideFunctionBot(const DecideFunction& function) : function_(function) {}

    Answer decide(const Decision& decision) override { return function_(decision, match()); }

private:
    const DecideFunction& function_;
};

// Connects to the referee, and reconnects whenever the stream breaks.
class Session {
public:
    Session(const BotFactory& make_bot, const Settings& settings)
        : settings_(detail::complete(settings)),
          credentials_(detail::credentials(settings_)),
          protocol_(make_bot, settings_) {}

    // Plays on one stream after another until the referee sends Goodbye.
    void play() {
        auto pause = first_pause;
        auto last_contact = Clock::now();
        bool warned = false;
        bool met = false;
        for (;;) {
            const auto began = Clock::now();
            protocol_.welcomed = false;
            const auto why = play_stream();
            if (protocol_.finished()) {
                return;
            }
            const auto now = Clock::now();
            if (protocol_.welcomed) {
                last_contact = now;
                warned = false;
                met = true;
            } else {
                check_hope(met, now - last_contact, why);
            }
            if (!std::exchange(warned, true)) {
                settings_.log(
                    "asara: no connection to " + settings_.address + " (" + why + "); retrying"
                );
            }
            if (now - began > longest_pause) {
                pause = first_pause;
            }
            std::this_thread::sleep_for(pause * jitter_(random_));
            pause = std::min(2 * pause, longest_pause);
        }
    }

    [[nodiscard]] std::string author_call() const { return protocol_.author_call(); }

private:
    // Plays on one stream; returns why it broke, or "" after Goodbye. Throws RefusedError.
    std::string play_stream() {
        detail::PlayStream stream(settings_.address, credentials_);
        stream.write(protocol_.hello());
        while (const auto message = stream.read()) {
            if (const auto* request = protocol_.handle(*message)) {
                stream.write(*request);
            }
            if (protocol_.finished()) {
                return "";
            }
        }
        const auto end = stream.finish();
        const auto code = end.status.error_code();
        if (!retryable(end)) {
            throw RefusedError(
                settings_.address, detail::status_name(code), end.reason, end.status.error_message()
            );
        }
        if (code == grpc::StatusCode::OK) {
            return "closed without a goodbye";
        }
        const auto& text = end.status.error_message();
        return text.empty() ? detail::status_name(code) : detail::one_line(text);
    }

    // Throws an error if no referee has been reached, and none will be.
    void check_hope(bool met, Seconds silence, const std::string& why) const {
        if (!met) {
            const auto fault = detail::transport_fault(settings_.address, !settings_.ca.empty());
            if (!fault.empty()) {
                throw ConfigurationError(fault);
            }
        }
        if (silence.count() > *settings_.patience_s) {
            throw ConnectionLostError(settings_.address, *settings_.patience_s, why);
        }
    }

    Settings settings_;
    std::shared_ptr<grpc::ChannelCredentials> credentials_;
    detail::ProtocolClient protocol_;
    std::minstd_rand random_{std::random_device{}()};
    std::uniform_real_distribution<double> jitter_{0.5, 1.0};
};

BotFactory factory(const DecideFunction& decide) {
    return [&decide] { return std::make_unique<DecideFunctionBot>(decide); };
}

// The class and the text of an exception, such as "std::out_of_range: vector::at".
std::string description(const std::exception& error) {
    const auto* const mangled = typeid(error).name();
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), &std::free
    );
    return std::string(name == nullptr ? mangled : name.get()) + ": " +
           detail::one_line(error.what());
}

int report(const std::string& text, int status) {
    std::cerr << "asara: " + text + "\n";
    return status;
}

// gRPC's own lines only repeat what run() reports.
void silence_grpc() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before gRPC has started a thread
    if (std::getenv("GRPC_VERBOSITY") == nullptr) {
        gpr_set_log_function([](gpr_log_func_args* /*line*/) {});
    }
}

}  // namespace

int run(const BotFactory& make_bot, const Settings& settings) {
    silence_grpc();
    std::unique_ptr<Session> session;
    // The error and where it happened are the last lines.
    const auto report_thrown = [&session](const std::string& text) {
        const auto call = session == nullptr ? "" : session->author_call();
        std::cerr << text + (call.empty() ? "\n" : "\nin " + call + "\n");
        return 1;
    };
    try {
        session = std::make_unique<Session>(make_bot, settings);
        session->play();
        return 0;
    } catch (const Error& error) {
        return report(error.what(), error.exit_status());
    } catch (const std::exception& error) {
        return report_thrown(description(error));
    } catch (...) {
        return report_thrown("an exception that is no std::exception");
    }
}

int run(const DecideFunction& decide, const Settings& settings) {
    return run(factory(decide), settings);
}

void play(const BotFactory& make_bot, const Settings& settings) {
    Session(make_bot, settings).play();
}

void play(const DecideFunction& decide, const Settings& settings) {
    play(factory(decide), settings);
}

}  // namespace asara
