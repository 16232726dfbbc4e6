#include "protocol_client.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "asara/error.hpp"

namespace asara {
namespace {

class Recorder : public Bot {
public:
    explicit Recorder(std::vector<std::string>& calls) : calls_(calls) {}

    Answer decide(const Decision& decision) override {
        calls_.push_back("decide " + std::to_string(decision.decision_id()));
        if (decision.legal_actions().empty()) {
            return {};
        }
        return decision.legal_actions(0);
    }
    void started() override { calls_.push_back("started " + match().match_id()); }
    void updated(const Events& events) override {
        calls_.push_back(
            "updated " + std::to_string(events.size()) + " " + std::to_string(events[0].seat())
        );
    }
    void ended(const MatchEnded& result) override {
        calls_.push_back("ended " + result.match_id());
    }

private:
    std::vector<std::string>& calls_;
};

class ProtocolClient : public ::testing::Test {
protected:
    ProtocolClient() {
        PlayResponse response;
        response.mutable_match_started()->set_match_id("m1");
        response.mutable_match_started()->set_sequence(1);
        handle(response);
    }

    const PlayRequest* handle(const PlayResponse& response) {
        return client.handle(response.SerializeAsString());
    }

    // Events 2 and 3, of the seats 2 and 3, and a decision with so many legal actions.
    static PlayResponse asking(int decision_id, int legal) {
        PlayResponse response;
        auto& decision = *response.mutable_decision();
        decision.set_match_id("m1");
        decision.set_decision_id(decision_id);
        decision.set_kind(DECISION_KIND_SECTION);
        for (int index = 0; index < legal; ++index) {
            decision.add_legal_actions()->mutable_pay_offer()->set_asari(index);
        }
        decision.add_events()->set_seat(2);
        decision.add_events()->set_seat(3);
        decision.set_sequence(3);
        return response;
    }

    std::vector<std::string> calls;
    std::vector<std::string> lines;
    detail::ProtocolClient client{
        [this] { return std::make_unique<Recorder>(calls); },
        {.bot_name = "recorder",
         .log = [this](std::string_view line) { lines.emplace_back(line); }}};
};

TEST_F(ProtocolClient, DeliversEventsAndDecisionsOnce) {
    PlayResponse update;
    update.mutable_update()->set_match_id("m1");
    update.mutable_update()->add_events()->set_seat(2);
    update.mutable_update()->set_sequence(2);
    handle(update);
    handle(update);
    const auto* const request = handle(asking(1, 2));
    ASSERT_NE(request, nullptr);
    const auto first = request->SerializeAsString();
    EXPECT_EQ(handle(asking(1, 2))->SerializeAsString(), first);
    const std::vector<std::string> expected{"started m1", "updated 1 2", "updated 1 3", "decide 1"};
    EXPECT_EQ(calls, expected);
    EXPECT_EQ(client.hello().hello().last_events(0).sequence(), 3);
}

TEST_F(ProtocolClient, AnswersARejectionWithTheFirstLegalAction) {
    handle(asking(1, 2));
    PlayResponse response;
    auto& rejection = *response.mutable_rejection();
    rejection.set_match_id("m1");
    rejection.set_decision_id(1);
    rejection.set_detail("not legal");
    rejection.set_forgiven(1);
    rejection.add_legal_actions()->mutable_pay_offer()->set_asari(7);
    EXPECT_EQ(handle(response)->reply().actions(0).pay_offer().asari(), 7);
    EXPECT_EQ(
        lines.at(0),
        "asara: the reply to decision 1 of m1 was rejected (not legal); 1 more is forgiven in this "
        "match; return one of decision.legal_actions() as it is"
    );
    rejection.set_decision_id(2);
    EXPECT_EQ(handle(response), nullptr) << "of an older decision";
}

TEST_F(ProtocolClient, RefusesAnEmptyAnswer) {
    try {
        handle(asking(4, 0));
        FAIL();
    } catch (const BotError& error) {
        EXPECT_STREQ(
            error.what(),
            "decide returned an empty list for decision 4 of m1; return one of "
            "decision.legal_actions(), or a list that begins with one"
        );
    }
    EXPECT_EQ(client.author_call(), "m1, decision 4 (section)");
}

TEST_F(ProtocolClient, IgnoresUnknownMessages) {
    EXPECT_EQ(client.handle(std::string("\xFA\x3F\x01x", 4)), nullptr);
    EXPECT_THROW(client.handle("\xFF"), Error);
}

}  // namespace
}  // namespace asara
