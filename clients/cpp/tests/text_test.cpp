#include "asara/text.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace asara {
namespace {

std::string fault(const std::string& text) {
    try {
        parse_action(text);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

TEST(Text, RoundTrips) {
    for (const auto* const text :
         {"dispatch bank 12", "lay blue", "lay blue yellow face-down", "take red trunk gold",
          "decline", "build 3", "found red gold-base gold-turret", "extend 2 white window",
          "light 1 gold", "search turret", "pay 4", "keep brown black", "wish tent 6",
          "choose orange", "return green"}) {
        EXPECT_EQ(format_action(parse_action(text)), text);
    }
}

TEST(Text, FormatsAnything) {
    EXPECT_EQ(format_action(Action()), "no action");
    Action action;
    action.mutable_take_section()->mutable_section()->set_colour(static_cast<Colour>(77));
    EXPECT_EQ(format_action(action), "take 77 unspecified");
}

TEST(Text, FaultsNameTheWord) {
    EXPECT_EQ(fault("hop").substr(0, 27), "action 'hop': no verb 'hop'");
    EXPECT_EQ(
        fault("take red"), "action 'take red': one of base, trunk, window, turret is missing"
    );
    EXPECT_EQ(fault("pay all"), "action 'pay all': 'all' is not a number");
    EXPECT_EQ(fault("decline now"), "action 'decline now': unexpected 'now'");
    EXPECT_EQ(fault("pay 04"), "action 'pay 04': not in canonical form; write 'pay 4'");
    EXPECT_EQ(
        fault("lay blue yellow"), "action 'lay blue yellow': lay one buyer, or two face-down"
    );
    EXPECT_NE(
        fault("dispatch moon 1").find("no area 'moon'; one of base-market"), std::string::npos
    );
    EXPECT_NE(fault("keep"), "");
}

}  // namespace
}  // namespace asara
