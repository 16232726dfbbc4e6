#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace asara {

// The options of asara::run; those that are empty come from the environment.
struct Settings {
    // ASARA_ADDRESS: address of the referee, host:port or unix:/path.
    std::string address = {};
    // ASARA_TOKEN: secret that identifies this bot to the referee; never logged.
    std::string token = {};
    // ASARA_SEAT: expected seat, if this process plays a single match.
    std::optional<int> seat = {};
    // ASARA_SEED: seed of Match::random, Match::random_action and nonces; without one every run
    // differs.
    std::string seed = {};
    // ASARA_CA: certificate (PEM) of the authority that signed the referee's; empty: no TLS.
    std::string ca = {};
    // ASARA_TRANSCRIPT: folder for transcripts, one file per match with all messages received.
    std::string transcript = {};
    // Name and version of the program, for the referee's logs; truncated to 64 bytes.
    std::string bot_name = {};
    // Maximum number of matches played at once.
    int max_matches = 1;
    // True to receive events after every turn instead of with the next decision.
    bool live_updates = false;
    // True to omit view().public_view() from decisions, for bots that follow the events.
    bool omit_public_view = false;
    // ASARA_PATIENCE_S: seconds to try to reach the referee before giving up; default 30.
    std::optional<double> patience_s = {};
    // Receives each warning, one line without its newline; by default, standard error does.
    std::function<void(std::string_view)> log = {};
};

}  // namespace asara
