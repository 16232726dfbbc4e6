#include "asara/match.hpp"

#include <string_view>
#include <utility>

#include "asara/error.hpp"
#include "hash.hpp"

namespace asara {
namespace {

std::uint64_t big_endian(const Digest& digest, std::size_t first, std::size_t count) {
    std::uint64_t number = 0;
    for (std::size_t index = first; index < first + count; ++index) {
        number = number << 8U | digest.at(index);
    }
    return number;
}

// The generator is seeded with a hash of its arguments.
std::mt19937_64 generator(const std::string& seed, const MatchStarted& started) {
    const auto length = std::to_string(seed.size());  // so that different arguments differ
    const auto seat = std::to_string(started.seat());
    const auto digest =
        detail::sha256({"random/", length, "/", seed, "/", started.match_id(), "/", seat});
    std::array<std::uint32_t, 8> words{};
    for (std::size_t index = 0; index < words.size(); ++index) {
        words.at(index) = static_cast<std::uint32_t>(big_endian(digest, 4 * index, 4));
    }
    std::seed_seq sequence(words.begin(), words.end());
    return std::mt19937_64(sequence);
}

}  // namespace

Match::Match(
    MatchStarted started, std::string entry, Limits limits, std::string seed, const Digest& digest
)
    : started_(std::move(started)),
      entry_(std::move(entry)),
      limits_(std::move(limits)),
      seed_(std::move(seed)),
      digest_(digest),
      random_(generator(seed_, started_)) {
    for (const auto number : started_.rule_sets()) {
        rule_sets_.insert(static_cast<RuleSet>(number));
    }
}

const Action& Match::random_action(const Decision& decision) const {
    if (decision.legal_actions().empty()) {
        throw BotError("random_action needs a decision with legal actions");
    }
    const auto seat_and_decision =
        "/" + std::to_string(seat()) + "/" + std::to_string(decision.decision_id());
    const auto digest = detail::sha256({seed_, "/", match_id(), seat_and_decision});
    const auto legal = static_cast<std::uint64_t>(decision.legal_actions_size());
    return decision.legal_actions(static_cast<int>(big_endian(digest, 0, 8) % legal));
}

}  // namespace asara
