#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "asara/error.hpp"
#include "complete_settings.hpp"

namespace asara {
namespace {

using Variables = std::map<std::string, std::string>;

Settings complete(const Settings& settings, const Variables& variables) {
    return detail::complete(settings, [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? "" : found->second;
    });
}

std::string fault(const Variables& variables) {
    try {
        complete({}, variables);
    } catch (const ConfigurationError& error) {
        EXPECT_EQ(error.exit_status(), 2);
        return error.what();
    }
    return "";
}

TEST(Settings, ComeFromTheEnvironment) {
    const auto settings = complete(
        {.token = "mine"}, {{"ASARA_ADDRESS", "unix:/x"},
                            {"ASARA_TOKEN", "theirs"},
                            {"ASARA_SEAT", "2"},
                            {"ASARA_PATIENCE_S", "1.5"}}
    );
    EXPECT_EQ(settings.address, "unix:/x");
    EXPECT_EQ(settings.token, "mine");
    EXPECT_EQ(settings.seat, 2);
    EXPECT_EQ(settings.patience_s, 1.5);
    EXPECT_EQ(complete({.address = "h:1", .token = "t"}, {}).patience_s, 30);
    EXPECT_EQ(complete({.address = "h:1", .token = "t", .seat = 0}, {{"ASARA_SEAT", "x"}}).seat, 0);
}

TEST(Settings, FaultsAreExplained) {
    EXPECT_EQ(
        fault({}),
        "ASARA_ADDRESS and ASARA_TOKEN are not set: start this bot with `asara match`, or set "
        "ASARA_ADDRESS (host:port or unix:/path) and ASARA_TOKEN"
    );
    EXPECT_EQ(fault({{"ASARA_ADDRESS", "h:1"}}).substr(0, 22), "ASARA_TOKEN is not set");
    for (const auto* const address : {"host", ":1", "host:", "host:x"}) {
        EXPECT_EQ(
            fault({{"ASARA_ADDRESS", address}, {"ASARA_TOKEN", "t"}}),
            "ASARA_ADDRESS is '" + std::string(address) + "': expected host:port or unix:/path"
        );
    }
    Variables variables{{"ASARA_ADDRESS", "h:1"}, {"ASARA_TOKEN", "t"}, {"ASARA_SEAT", "one"}};
    EXPECT_EQ(fault(variables), "ASARA_SEAT is 'one': expected a seat number");
    variables.erase("ASARA_SEAT");
    for (const auto* const patience : {"-1", "soon", "inf", "nan", "1s"}) {
        variables["ASARA_PATIENCE_S"] = patience;
        EXPECT_EQ(
            fault(variables), "ASARA_PATIENCE_S is '" + std::string(patience) +
                                  "': expected seconds, such as 30 or 0.5"
        );
    }
    for (const Settings& settings :
         {Settings{.max_matches = 0}, {.patience_s = -1}, {.patience_s = std::nan("")}}) {
        EXPECT_THROW(
            complete(settings, {{"ASARA_ADDRESS", "h:1"}, {"ASARA_TOKEN", "t"}}), ConfigurationError
        );
    }
}

TEST(Settings, CertificatesAreChecked) {
    EXPECT_THROW(detail::read_certificate("/"), ConfigurationError);
    EXPECT_THROW(detail::read_certificate("/nowhere"), ConfigurationError);
    EXPECT_THROW(detail::read_certificate("/dev/null"), ConfigurationError);
}

TEST(Settings, TranscriptsNeedAFolderThatLasts) {
    const auto contained = [](const char* /*name*/) { return "1"; };
    const auto outside = [](const char* /*name*/) { return ""; };
    EXPECT_THROW(detail::transcript_folder({.transcript = "x"}, contained), ConfigurationError);
    EXPECT_THROW(
        detail::transcript_folder({.transcript = "/dev/null"}, outside), ConfigurationError
    );
    EXPECT_EQ(detail::transcript_folder({}, outside), std::nullopt);
}

TEST(Settings, NamesAreTruncatedBetweenCharacters) {
    EXPECT_EQ(detail::shorten("aé", 2), "a");
    EXPECT_EQ(detail::shorten("aé", 3), "aé");
}

}  // namespace
}  // namespace asara
