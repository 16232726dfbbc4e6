#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <string>

#include "asara/messages.hpp"

namespace asara {

// A SHA-256 digest.
using Digest = std::array<std::uint8_t, 32>;

// A match, from the seat of one bot.
class Match {
public:
    // `digest` is that of the messages received, and outlives the match.
    Match(
        MatchStarted started,
        std::string entry,
        Limits limits,
        std::string seed,
        const Digest& digest
    );

    // Name of the match.
    [[nodiscard]] const std::string& match_id() const { return started_.match_id(); }
    // This bot's seat, 0 to seats() - 1.
    [[nodiscard]] int seat() const { return started_.seat(); }
    // Number of seats.
    [[nodiscard]] int seats() const { return started_.seats(); }
    // Rule sets of the match, such as asara::RULE_SET_GIFTS.
    [[nodiscard]] const std::set<RuleSet>& rule_sets() const { return rule_sets_; }
    // Prices, spaces, tile counts and awards, which may differ between editions.
    [[nodiscard]] const Edition& edition() const { return started_.edition(); }
    // Time limits in microseconds.
    [[nodiscard]] const Clocks& clocks() const { return started_.clocks(); }
    // View of the seat when the match started; each decision carries a newer one.
    [[nodiscard]] const View& view() const { return started_.view(); }
    // Name of this bot's entry in the match or tournament.
    [[nodiscard]] const std::string& entry() const { return entry_; }
    // Limits that the referee enforces.
    [[nodiscard]] const Limits& limits() const { return limits_; }
    // The message MatchStarted, which also has the commitment to the deal, and resumed().
    [[nodiscard]] const MatchStarted& started() const { return started_; }

    // Random numbers that depend on ASARA_SEED, the match and the seat alone.
    [[nodiscard]] std::mt19937_64& random() { return random_; }

    // A random legal action that depends on ASARA_SEED, the match, the seat and the decision alone,
    // by the rule of proto/README.md that all languages share.
    [[nodiscard]] const Action& random_action(const Decision& decision) const;

    // SHA-256 digest of the messages of the match received so far. At the end it equals the digest
    // of this seat in the replay, unless messages were lost when the stream broke.
    [[nodiscard]] const Digest& digest() const { return digest_; }

private:
    MatchStarted started_;
    std::string entry_;
    Limits limits_;
    std::string seed_;
    const Digest& digest_;
    std::set<RuleSet> rule_sets_;
    std::mt19937_64 random_;
};

}  // namespace asara
