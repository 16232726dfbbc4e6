#include <gtest/gtest.h>

#include <set>
#include <string>

#include "asara/asara.hpp"
#include "vectors.hpp"

namespace asara {
namespace {

using testing::member;
using testing::read_vectors;

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

TEST(Match, RandomActionFollowsTheVectors) {
    const auto vectors = read_vectors("random_action.json");
    for (const auto& vector : member(vectors, "choices").list_value().values()) {
        const auto number = [&](const char* name) {
            return static_cast<int>(member(vector, name).number_value());
        };
        Decision decision;
        decision.set_decision_id(
            static_cast<std::int64_t>(member(vector, "decision_id").number_value())
        );
        for (int index = 0; index < number("count"); ++index) {
            decision.add_legal_actions()->mutable_pay_offer()->set_asari(index);
        }
        const auto& seed = member(vector, "seed").string_value();
        const auto one = match(seed, member(vector, "match_id").string_value(), number("seat"));
        EXPECT_EQ(one.random_action(decision).pay_offer().asari(), number("index"));
    }
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
