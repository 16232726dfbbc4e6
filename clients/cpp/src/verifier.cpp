#include "verifier.hpp"

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "hash.hpp"
#include "strings.hpp"

namespace asara::detail {
namespace {

constexpr int nonce_bytes = 32;
constexpr std::size_t name_length = 200;  // of a file name, without seat and extension

std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value > 127; value >>= 7U) {
        bytes += static_cast<char>((value & 127U) | 128U);
    }
    bytes += static_cast<char>(value);
    return bytes;
}

std::string last_fault() { return std::generic_category().message(errno); }

std::string hex_or_none(std::string_view data) {
    return data.empty() ? "(none)" : hex(bytes_of(data));
}

}  // namespace

std::string make_nonce(const std::string& seed, const std::string& match_id, int seat) {
    if (seed.empty()) {
        return random_bytes(nonce_bytes);
    }
    return hmac_sha256(seed, "nonce/" + match_id + "/" + std::to_string(seat));
}

std::string file_name(std::string_view match_id) {
    static constexpr std::string_view safe =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    static constexpr std::string_view digits = "0123456789ABCDEF";
    std::string name;
    for (const auto byte : bytes_of(match_id)) {
        const auto character = static_cast<char>(byte);
        const bool hidden = name.empty() && character == '.';
        if (hidden || safe.find(character) == std::string_view::npos) {
            name += {'%', digits[byte >> 4U], digits[byte & 15U]};
        } else {
            name += character;
        }
    }
    name.resize(std::min(name.size(), name_length));
    return name;
}

Verifier::Verifier(
    std::string match_id, int seat, const std::optional<std::filesystem::path>& folder, Log log
)
    : match_id_(std::move(match_id)), seat_(seat), log_(std::move(log)) {
    if (folder) {
        open_transcript(*folder);
    }
}

void Verifier::record(std::string_view message) {
    digest_ = sha256({view_of(digest_), message});
    if (transcript_ == nullptr) {
        return;
    }
    const auto record = varint(message.size()).append(message);
    if (std::fwrite(record.data(), 1, record.size(), transcript_.get()) != record.size() ||
        std::fflush(transcript_.get()) != 0) {
        stop_transcript();
    }
}

const std::string& Verifier::deal_committed(
    const DealCommitted& committed, std::string_view message, const std::string& nonce
) {
    if (message != commitment_message_) {
        if (commitment_message_.empty()) {
            commitment_ = committed.deal_commitment();
            nonce_ = nonce;
        } else {
            check_commitment(committed.deal_commitment());
        }
        commitment_message_ = message;
        record(message);
    }
    return nonce_;
}

void Verifier::match_started(const MatchStarted& started) {
    if (commitment_.empty()) {
        commitment_ = started.deal_commitment();
    }
    check_commitment(started.deal_commitment());
    shared_deal_ = started.shared_deal();
    const auto seat = started.seat();
    const bool present = seat >= 0 && seat < started.nonces_size();
    if (!nonce_.empty() && (!present || started.nonces(seat) != nonce_)) {
        report_violation("the deal was made without the nonce of this bot");
    }
}

void Verifier::match_ended(const MatchEnded& ended) {
    const bool withheld = ended.void_() || (shared_deal_ && ended.deal_secret().empty());
    if (!withheld && view_of(sha256({ended.deal_secret()})) != commitment_) {
        report_violation(
            "the secret " + hex_or_none(ended.deal_secret()) + " does not open the commitment " +
            hex_or_none(commitment_)
        );
    }
    finish();
}

void Verifier::check_commitment(const std::string& commitment) {
    if (commitment != commitment_) {
        report_violation(
            "the commitment " + hex_or_none(commitment_) + " was changed to " +
            hex_or_none(commitment)
        );
    }
}

void Verifier::report_violation(const std::string& violation) {
    log_(
        "asara: " + match_id_ + ": THE DEAL CANNOT BE TRUSTED: " + violation +
        "; keep the transcript and the replay, and inform the organiser"
    );
}

// Creates a transcript under a name that no earlier run has used.
void Verifier::open_transcript(const std::filesystem::path& folder) {
    const auto name = file_name(match_id_) + "-seat" + std::to_string(seat_);
    for (int number = 1;; ++number) {
        const auto suffix = number == 1 ? "" : "-" + std::to_string(number);
        transcript_path_ = folder / (name + suffix + ".transcript");
        transcript_.reset(std::fopen(transcript_path_.c_str(), "wbx"));
        if (transcript_ != nullptr) {
            return;
        }
        if (errno != EEXIST) {
            stop_transcript();
            return;
        }
    }
}

void Verifier::finish() {
    if (transcript_ == nullptr) {
        return;
    }
    if (std::fclose(transcript_.release()) != 0) {
        stop_transcript();
    }
    const auto path = std::filesystem::path(transcript_path_).replace_extension(".digest");
    const File file(std::fopen(path.c_str(), "wbx"));
    const auto line = hex(digest_) + "\n";
    if (file == nullptr || std::fwrite(line.data(), 1, line.size(), file.get()) != line.size() ||
        std::fflush(file.get()) != 0) {
        log_("asara: " + match_id_ + ": no digest written: " + last_fault());
    }
}

void Verifier::stop_transcript() {
    log_("asara: " + match_id_ + ": transcript stopped: " + last_fault());
    transcript_.reset();
}

}  // namespace asara::detail
