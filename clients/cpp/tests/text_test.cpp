#include "asara/text.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "vectors.hpp"

namespace asara {
namespace {

using testing::from_hex;
using testing::member;
using testing::read_vectors;

std::string fault(const std::string& text) {
    try {
        parse_action(text);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

Action action(const google::protobuf::Value& vector) {
    Action message;
    EXPECT_TRUE(message.ParseFromString(from_hex(member(vector, "hex").string_value())));
    return message;
}

TEST(Text, FormatsAndParsesTheVectors) {
    const auto vectors = read_vectors("actions.json");
    for (const auto& vector : member(vectors, "actions").list_value().values()) {
        const auto& text = member(vector, "text").string_value();
        EXPECT_EQ(format_action(action(vector)), text);
        EXPECT_EQ(parse_action(text).SerializeAsString(), action(vector).SerializeAsString());
    }
    for (const auto& vector : member(vectors, "unparsable").list_value().values()) {
        EXPECT_EQ(format_action(action(vector)), member(vector, "text").string_value());
        EXPECT_NE(fault(member(vector, "text").string_value()), "");
    }
    for (const auto& text : member(vectors, "invalid").list_value().values()) {
        EXPECT_NE(fault(text.string_value()), "") << text.string_value();
    }
}

TEST(Text, FaultsNameTheWord) {
    EXPECT_EQ(fault("hop").substr(0, 27), "action 'hop': no verb 'hop'");
    EXPECT_EQ(fault("take red"), "action 'take red': a section kind is missing");
    EXPECT_EQ(fault("pay all"), "action 'pay all': 'all' is not a number");
    EXPECT_EQ(fault("dispatch spies"), "action 'dispatch spies': the number of a space is missing");
    EXPECT_EQ(fault("decline now"), "action 'decline now': unexpected 'now'");
    EXPECT_EQ(fault("pay 04"), "action 'pay 04': not in canonical form; write 'pay 4'");
    EXPECT_EQ(
        fault("lay blue yellow"), "action 'lay blue yellow': lay one buyer, or two face-down"
    );
    EXPECT_NE(
        fault("dispatch moon 1").find("no area 'moon'; one of base-market"), std::string::npos
    );
}

}  // namespace
}  // namespace asara
