#include <gtest/gtest.h>

#include <set>
#include <string>

#include "asara/asara.hpp"
#include "vectors.hpp"

namespace asara {
namespace {

Match match(const std::string& seed, const std::string& match_id = "m1", int seat = 0) {
    static const Digest digest{};
    MatchStarted started;
    started.set_match_id(match_id);
    started.set_seat(seat);
    started.add_rule_sets(RULE_SET_BASIC);
    return {started, "entry", Limits(), seed, digest};
}

TEST(Match, RandomDependsOnSeedMatchAndSeat) {
    EXPECT_EQ(match("1").random()(), match("1").random()());
    const std::set<std::uint64_t> numbers{
        match("1").random()(), match("2").random()(), match("1", "m2").random()(),
        match("1", "m1", 1).random()()};
    EXPECT_EQ(numbers.size(), 4);
    EXPECT_TRUE(match("1").rule_sets().contains(RULE_SET_BASIC));
}

TEST(Match, RandomActionNeedsALegalAction) {
    EXPECT_THROW((void)match("1").random_action(Decision()), BotError);
}

class Empty : public Bot {
    Answer decide(const Decision& decision) override { return decision.legal_actions(0); }
};

TEST(Bot, HasNoMatchInItsConstructor) { EXPECT_THROW((void)Empty().match(), BotError); }

}  // namespace
}  // namespace asara
