#include "protocol_client.hpp"

#include <algorithm>
#include <utility>

#include "asara/error.hpp"
#include "complete_settings.hpp"
#include "hash.hpp"
#include "strings.hpp"

namespace asara::detail {
namespace {

constexpr int protocol_version = 1;
constexpr std::size_t name_bytes = 64;  // of Hello.bot_name
constexpr int seed_bytes = 16;

std::string language() {
#if defined(__clang__)
    return "C++ (clang " + std::to_string(__clang_major__) + ")";
#elif defined(__GNUC__)
    return "C++ (GCC " + std::to_string(__GNUC__) + ")";
#else
    return "C++";
#endif
}

// Returns the consequence of further rejections if `more` are forgiven in the match.
std::string forgiveness(int more) {
    if (more == 0) {
        return "the next rejection forfeits the match";
    }
    return std::to_string(more) + " more " + (more == 1 ? "is" : "are") + " forgiven in this match";
}

std::string reason_of(const Rejection& rejection) {
    if (!rejection.detail().empty()) {
        return rejection.detail();
    }
    const auto& name = RejectionReason_Name(rejection.reason());
    return name.empty() ? std::to_string(rejection.reason()) : name;
}

void set_answer(PlayRequest& request, const Decision& decision, const char* method, Answer answer) {
    if (answer.actions().empty()) {
        throw BotError(
            std::string(method) + " returned an empty list for decision " +
            std::to_string(decision.decision_id()) + " of " + decision.match_id() +
            "; return one of decision.legal_actions(), or a list that begins with one"
        );
    }
    auto& reply = *request.mutable_reply();
    reply.set_match_id(decision.match_id());
    reply.set_decision_id(decision.decision_id());
    reply.clear_actions();
    for (auto& action : answer.actions()) {
        *reply.add_actions() = std::move(action);
    }
}

}  // namespace

ProtocolClient::Response::Response(std::string_view message)
    : content(google::protobuf::Arena::CreateMessage<PlayResponse>(&arena)) {
    if (!content->ParseFromArray(message.data(), static_cast<int>(message.size()))) {
        throw Error("the referee sent a message that cannot be read");
    }
}

const Decision& ProtocolClient::ActiveMatch::decision() const {
    return asked == nullptr ? Decision::default_instance() : asked->content->decision();
}

ProtocolClient::ProtocolClient(BotFactory make_bot, Settings settings)
    : make_bot_(std::move(make_bot)),
      settings_(std::move(settings)),
      transcripts_(transcript_folder(settings_)),
      seed_(settings_.seed.empty() ? hex(bytes_of(random_bytes(seed_bytes))) : settings_.seed) {}

PlayRequest ProtocolClient::hello() const {
    PlayRequest request;
    auto& hello = *request.mutable_hello();
    hello.set_protocol_version(protocol_version);
    hello.set_token(settings_.token);
    hello.set_bot_name(shorten(settings_.bot_name, name_bytes));
    hello.set_language(language());
    hello.set_max_matches(settings_.max_matches);
    hello.set_live_updates(settings_.live_updates);
    hello.set_omit_public_view(settings_.omit_public_view);
    for (const auto& [match_id, match] : matches_) {
        auto& last = *hello.add_last_events();
        last.set_match_id(match_id);
        last.set_sequence(match.sequence);
    }
    return request;
}

const PlayRequest* ProtocolClient::handle(std::string_view message) {
    note_call("", nullptr);
    auto response = std::make_unique<Response>(message);
    const auto& content = *response->content;
    switch (content.response_case()) {
        case PlayResponse::kDecision:
            return decide(std::move(response), message);
        case PlayResponse::kUpdate:
            update(content.update(), message);
            break;
        case PlayResponse::kMatchStarted:
            start_match(content.match_started(), message);
            break;
        case PlayResponse::kMatchEnded:
            end_match(content.match_ended(), message);
            break;
        case PlayResponse::kRejection:
            return handle_rejection(content.rejection(), message);
        case PlayResponse::kDealCommitted:
            return send_nonce(content.deal_committed(), message);
        case PlayResponse::kWelcome:
            welcome_ = content.welcome();
            welcomed = true;
            break;
        case PlayResponse::kGoodbye:
            finished_ = true;
            break;
        case PlayResponse::RESPONSE_NOT_SET:  // or a member that this version does not know
            break;
    }
    return nullptr;
}

std::string ProtocolClient::author_call() const {
    if (calling_decision_ == nullptr) {
        return calling_match_;
    }
    const auto kind =
        enum_word(DecisionKind_Name(calling_decision_->kind()), "DECISION_KIND_", true);
    return calling_match_ + ", decision " + std::to_string(calling_decision_->decision_id()) +
           " (" + (kind.empty() ? std::to_string(calling_decision_->kind()) : kind) + ")";
}

ProtocolClient::ActiveMatch* ProtocolClient::active(const std::string& match_id) {
    const auto found = matches_.find(match_id);
    return found == matches_.end() ? nullptr : &found->second;
}

// Returns the verifier of a match: that of its joint deal, or a new one.
std::unique_ptr<Verifier> ProtocolClient::take_verifier(const std::string& match_id, int seat) {
    const auto pending = pending_.extract(match_id);
    return pending ? std::move(pending.mapped())
                   : std::make_unique<Verifier>(match_id, seat, transcripts_, settings_.log);
}

const PlayRequest* ProtocolClient::send_nonce(
    const DealCommitted& committed, std::string_view message
) {
    const auto& match_id = committed.match_id();
    if (active(match_id) != nullptr) {
        settings_.log("asara: " + match_id + ": nonce requested after the match started");
        return nullptr;
    }
    auto& verifier = pending_[match_id];
    if (verifier == nullptr) {
        verifier =
            std::make_unique<Verifier>(match_id, committed.seat(), transcripts_, settings_.log);
    }
    const auto nonce = make_nonce(settings_.seed, match_id, committed.seat());
    nonce_.mutable_nonce()->set_match_id(match_id);
    nonce_.mutable_nonce()->set_nonce(verifier->deal_committed(committed, message, nonce));
    return &nonce_;
}

void ProtocolClient::start_match(const MatchStarted& started, std::string_view message) {
    const auto& match_id = started.match_id();
    if (auto* match = active(match_id)) {  // resumed, which the bot need not notice
        match->verifier->record(message);
        match->verifier->match_started(started);
        return;
    }
    auto verifier = take_verifier(match_id, started.seat());
    verifier->record(message);
    verifier->match_started(started);
    if (settings_.seat && *settings_.seat != started.seat()) {
        settings_.log(
            "asara: " + match_id + ": seat " + std::to_string(started.seat()) + ", expected seat " +
            std::to_string(*settings_.seat)
        );
    }
    note_call(match_id, nullptr);
    auto bot = make_bot_();
    if (bot == nullptr) {
        throw BotError("the function that makes bots returned no bot");
    }
    bot->set_match(std::make_unique<Match>(
        started, welcome_.entry(), welcome_.limits(), seed_, verifier->digest()
    ));
    auto& match = matches_[match_id];
    match.verifier = std::move(verifier);
    match.bot = std::move(bot);
    match.sequence = started.sequence();
    match.bot->started();
}

void ProtocolClient::update(const Update& update, std::string_view message) {
    if (auto* match = active(update.match_id())) {
        match->verifier->record(message);
        deliver_events(*match, update);
    }
}

const PlayRequest* ProtocolClient::decide(
    std::unique_ptr<Response> response, std::string_view message
) {
    const auto& decision = response->content->decision();
    auto* const match = active(decision.match_id());
    if (match == nullptr) {
        settings_.log("asara: " + decision.match_id() + ": decision for an unknown match");
        return nullptr;
    }
    match->verifier->record(message);
    deliver_events(*match, decision);
    if (decision.decision_id() != match->decision().decision_id()) {
        match->asked = std::move(response);
        note_call(decision.match_id(), &decision);
        auto answer = match->bot->decide(decision);
        set_answer(match->request, decision, "decide", std::move(answer));
    }
    return &match->request;  // a decision repeated after a reconnection gets the same reply
}

const PlayRequest* ProtocolClient::handle_rejection(
    const Rejection& rejection, std::string_view message
) {
    auto* const match = active(rejection.match_id());
    if (match != nullptr) {
        match->verifier->record(message);
    }
    if (match == nullptr || match->decision().decision_id() != rejection.decision_id()) {
        return nullptr;
    }
    settings_.log(
        "asara: the reply to decision " + std::to_string(rejection.decision_id()) + " of " +
        rejection.match_id() + " was rejected (" + reason_of(rejection) + "); " +
        forgiveness(rejection.forgiven()) + "; return one of decision.legal_actions() as it is"
    );
    if (rejection.legal_actions().empty()) {
        return nullptr;
    }
    note_call(rejection.match_id(), &match->decision());
    auto answer = match->bot->rejected(match->decision(), rejection);
    set_answer(match->request, match->decision(), "rejected", std::move(answer));
    return &match->request;
}

void ProtocolClient::end_match(const MatchEnded& ended, std::string_view message) {
    if (const auto pending = pending_.extract(ended.match_id())) {  // cancelled before it started
        pending.mapped()->record(message);
        pending.mapped()->finish();
    }
    auto node = matches_.extract(ended.match_id());
    if (node) {
        auto& match = node.mapped();
        match.verifier->record(message);
        match.verifier->match_ended(ended);
        deliver_events(match, ended);
        note_call(ended.match_id(), nullptr);
        match.bot->ended(ended);
    }
}

// Passes on the events that are new to the bot; a reconnection may repeat some.
template <typename Message>
void ProtocolClient::deliver_events(ActiveMatch& match, const Message& message) {
    const std::int64_t count = message.events_size();
    const auto unseen = message.sequence() - match.sequence;
    if (count == 0 || unseen <= 0) {
        return;
    }
    match.sequence = message.sequence();
    const auto first = static_cast<int>(std::max<std::int64_t>(count - unseen, 0));
    note_call(message.match_id(), nullptr);
    match.bot->updated(Events(message.events(), first));
}

void ProtocolClient::note_call(const std::string& match_id, const Decision* decision) {
    calling_match_ = match_id;
    calling_decision_ = decision;
}

}  // namespace asara::detail
