#pragma once

#include <google/protobuf/arena.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "asara/bot.hpp"
#include "asara/messages.hpp"
#include "asara/run.hpp"
#include "asara/settings.hpp"
#include "verifier.hpp"

namespace asara::detail {

// The bot's side of the protocol, independent of any transport: responses in, requests out.
//
// One instance serves all streams of a process: matches continue after a reconnection.
class ProtocolClient {
public:
    // The settings are complete.
    ProtocolClient(BotFactory make_bot, Settings settings);

    // The first request of a stream.
    [[nodiscard]] PlayRequest hello() const;

    // Processes one serialized PlayResponse; returns the request that it asks for, or nullptr. The
    // request is valid until the next call.
    const PlayRequest* handle(std::string_view message);

    // The call of the author's code that runs, or that has just thrown, such as
    // "m1, decision 7 (section)"; empty outside it.
    [[nodiscard]] std::string author_call() const;

    // True once the referee has answered Hello; the transport resets it for every stream.
    bool welcomed = false;
    // True once the referee has sent Goodbye.
    [[nodiscard]] bool finished() const { return finished_; }

private:
    // A response with the memory of its parts, which decisions keep until the next one.
    struct Response {
        explicit Response(std::string_view message);

        google::protobuf::Arena arena;
        PlayResponse* content;
    };

    // A running match with its bot. `sequence` is the number of the last event passed to the bot,
    // `asked` holds the last decision and `request` the reply to it.
    struct ActiveMatch {
        std::unique_ptr<Verifier> verifier;
        std::unique_ptr<Bot> bot;
        std::int64_t sequence = 0;
        std::unique_ptr<Response> asked;
        PlayRequest request;

        [[nodiscard]] const Decision& decision() const;
    };

    ActiveMatch* active(const std::string& match_id);
    std::unique_ptr<Verifier> take_verifier(const std::string& match_id, int seat);
    const PlayRequest* send_nonce(const DealCommitted& committed, std::string_view message);
    void start_match(const MatchStarted& started, std::string_view message);
    void update(const Update& update, std::string_view message);
    const PlayRequest* decide(std::unique_ptr<Response> response, std::string_view message);
    const PlayRequest* handle_rejection(const Rejection& rejection, std::string_view message);
    void end_match(const MatchEnded& ended, std::string_view message);
    template <typename Message>
    void deliver_events(ActiveMatch& match, const Message& message);
    // Remembers what author_call() describes, before the author's code is called.
    void note_call(const std::string& match_id, const Decision* decision);

    BotFactory make_bot_;
    Settings settings_;
    std::optional<std::filesystem::path> transcripts_;
    std::string seed_;  // of random numbers
    Welcome welcome_;
    std::map<std::string, ActiveMatch> matches_;
    // Verifiers of joint deals whose match has not started.
    std::map<std::string, std::unique_ptr<Verifier>> pending_;
    PlayRequest nonce_;
    bool finished_ = false;
    std::string calling_match_;
    const Decision* calling_decision_ = nullptr;
};

}  // namespace asara::detail
