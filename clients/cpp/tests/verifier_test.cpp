#include "verifier.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hash.hpp"
#include "strings.hpp"
#include "vectors.hpp"

namespace asara {
namespace {

using testing::from_hex;
using testing::member;
using testing::read_vectors;

class Verifier : public ::testing::Test {
protected:
    Verifier() { std::filesystem::create_directories(folder); }
    ~Verifier() override { std::filesystem::remove_all(folder); }

    detail::Verifier verifier(const std::string& match_id = "m1") {
        return {match_id, 1, folder, [this](std::string_view line) { lines.emplace_back(line); }};
    }

    [[nodiscard]] std::string content(const std::string& name) const {
        std::ifstream file(folder / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::filesystem::path folder =
        std::filesystem::path(::testing::TempDir()) /
        ("asara-" + detail::hex(detail::bytes_of(detail::random_bytes(8))));
    std::vector<std::string> lines;
};

MatchEnded void_end() {
    MatchEnded ended;
    ended.set_void_(true);
    return ended;
}

TEST(Nonce, IsDerivedFromTheSeed) {
    const auto nonce = detail::make_nonce("1", "m1", 1);
    EXPECT_EQ(nonce, detail::hmac_sha256("1", "nonce/m1/1"));
    EXPECT_EQ(nonce.size(), 32);
    EXPECT_NE(detail::make_nonce("", "m1", 1), detail::make_nonce("", "m1", 1));
}

TEST_F(Verifier, ComputesTheDigestOfMessagesAsReceived) {
    auto one = verifier();
    const auto vectors = read_vectors("digest.json");
    for (const auto& message : member(vectors, "messages").list_value().values()) {
        one.record(from_hex(member(message, "message").string_value()));
        EXPECT_EQ(detail::hex(one.digest()), member(message, "digest").string_value());
    }
}

TEST_F(Verifier, WritesTranscriptAndDigest) {
    const std::string message(200, 'x');
    auto one = verifier();
    one.record(message);
    EXPECT_EQ(content("m1-seat1.transcript"), "\xC8\x01" + message);
    one.match_ended(void_end());
    EXPECT_EQ(content("m1-seat1.digest"), detail::hex(one.digest()) + "\n");

    auto other = verifier();
    other.match_ended(void_end());
    EXPECT_EQ(content("m1-seat1.transcript"), "\xC8\x01" + message) << "an existing file is kept";
    EXPECT_EQ(content("m1-seat1-2.digest"), std::string(64, '0') + "\n");
    EXPECT_TRUE(lines.empty());
}

TEST(FileName, StaysInItsFolder) {
    EXPECT_EQ(detail::file_name("../a b"), "%2E.%2Fa%20b");
    EXPECT_EQ(detail::file_name("é"), "%C3%A9");
    EXPECT_EQ(detail::file_name(std::string(300, 'x')).size(), 200);
}

TEST_F(Verifier, ReportsASecretThatDoesNotOpenTheCommitment) {
    MatchStarted started;
    started.set_deal_commitment(std::string(detail::view_of(detail::sha256({"secret"}))));
    MatchEnded ended;
    ended.set_deal_secret("secret");
    auto honest = verifier();
    honest.match_started(started);
    honest.match_ended(ended);
    EXPECT_TRUE(lines.empty());

    ended.set_deal_secret("another");
    auto other = verifier();
    other.match_started(started);
    other.match_ended(ended);
    ASSERT_EQ(lines.size(), 1);
    EXPECT_NE(
        lines[0].find("asara: m1: THE DEAL CANNOT BE TRUSTED: the secret 616e"), std::string::npos
    );
}

TEST_F(Verifier, ReportsADealWithoutItsNonce) {
    DealCommitted committed;
    committed.set_deal_commitment("c");
    auto one = verifier();
    EXPECT_EQ(one.deal_committed(committed, "message", "mine"), "mine");
    EXPECT_EQ(one.deal_committed(committed, "message", "later"), "mine");
    MatchStarted started;
    started.set_seat(1);
    started.set_deal_commitment("c");
    *started.add_nonces() = "theirs";
    *started.add_nonces() = "mine";
    one.match_started(started);
    EXPECT_TRUE(lines.empty());
    started.set_nonces(1, "");
    one.match_started(started);
    started.set_deal_commitment("");
    one.match_started(started);
    ASSERT_EQ(lines.size(), 3);
    EXPECT_NE(lines[1].find("the commitment 63 was changed to (none)"), std::string::npos);
}

}  // namespace
}  // namespace asara
