#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "asara/match.hpp"
#include "asara/messages.hpp"

namespace asara::detail {

using Log = std::function<void(std::string_view)>;

// 32 random bytes, or bytes derived from seed, match and seat if there is a seed.
std::string make_nonce(const std::string& seed, const std::string& match_id, int seat);

// A file name that stays inside its folder for any name of a match.
std::string file_name(std::string_view match_id);

// Verifies one match, from its first message to its last, across reconnections: nonce and
// commitment of the deal, message digest and transcript.
//
// Violations and failures of the transcript are logged; neither stops the match.
class Verifier {
public:
    Verifier(
        std::string match_id, int seat, const std::optional<std::filesystem::path>& folder, Log log
    );

    // SHA-256 of the previous digest and the last message; initially 32 zero bytes.
    [[nodiscard]] const Digest& digest() const { return digest_; }

    // Adds a message of the match, exactly as received, to the digest and the transcript.
    void record(std::string_view message);

    // Records the commitment and returns the nonce to send. A commitment that is repeated after a
    // reconnection is recorded once, and gets the first nonce again.
    const std::string& deal_committed(
        const DealCommitted& committed, std::string_view message, const std::string& nonce
    );

    // Checks the commitment and this bot's nonce; also called when the match resumes.
    void match_started(const MatchStarted& started);

    // Checks that the secret opens the commitment, and finishes the transcript. A match with a
    // shared deal may withhold its secret; its replay has it.
    void match_ended(const MatchEnded& ended);

    // Closes the transcript of a match that has ended, and writes the digest beside it.
    void finish();

private:
    struct CloseFile {
        void operator()(std::FILE* file) const { (void)std::fclose(file); }
    };
    using File = std::unique_ptr<std::FILE, CloseFile>;

    void check_commitment(const std::string& commitment);
    void report_violation(const std::string& violation);
    void open_transcript(const std::filesystem::path& folder);
    void stop_transcript();

    std::string match_id_;
    int seat_;
    Log log_;
    Digest digest_{};
    std::string commitment_;
    std::string commitment_message_;
    std::string nonce_;
    bool shared_deal_ = false;
    std::filesystem::path transcript_path_;
    File transcript_;
};

}  // namespace asara::detail
