#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "asara/match.hpp"
#include "asara/messages.hpp"

namespace asara {

// One of decision.legal_actions(), or several actions in order, up to the end of the turn. Actions
// and lists of actions convert to it: `return decision.legal_actions(0);`.
class Answer {
public:
    Answer(const Action& action) : actions_{action} {}  // NOLINT(*-explicit-*)
    Answer(std::vector<Action> actions)                 // NOLINT(*-explicit-*)
        : actions_(std::move(actions)) {}
    Answer(std::initializer_list<Action> actions) : actions_(actions) {}

    [[nodiscard]] const std::vector<Action>& actions() const { return actions_; }
    [[nodiscard]] std::vector<Action>& actions() { return actions_; }

private:
    std::vector<Action> actions_;
};

// Events that are new to the bot, a range of asara::Event.
class Events {
public:
    using Field = google::protobuf::RepeatedPtrField<Event>;

    Events(const Field& field, int first) : field_(&field), first_(first) {}

    [[nodiscard]] Field::const_iterator begin() const { return field_->begin() + first_; }
    [[nodiscard]] Field::const_iterator end() const { return field_->end(); }
    [[nodiscard]] int size() const { return field_->size() - first_; }
    [[nodiscard]] const Event& operator[](int index) const { return field_->Get(first_ + index); }

private:
    const Field* field_;
    int first_;
};

// Plays one seat of one match; every match gets its own instance.
//
// All methods are called from the thread that called asara::run, one at a time: while a bot decides
// in one match, the clocks of its other matches run.
class Bot {
public:
    Bot() = default;
    Bot(const Bot&) = delete;
    Bot& operator=(const Bot&) = delete;
    Bot(Bot&&) = delete;
    Bot& operator=(Bot&&) = delete;
    virtual ~Bot() = default;

    // Returns one of decision.legal_actions(), or a list that begins with one.
    //
    // Further actions are applied in order while each is legal. The first illegal one ends the list
    // without penalty, and the next decision is asked as usual. Called once per decision.
    virtual Answer decide(const Decision& decision) = 0;

    // Called when the match starts, or resumes in a new process (match().started().resumed()).
    virtual void started() {}

    // Called with new events, each once and in order, before the decision that follows them.
    //
    // Events arrive with decisions and the result or, with Settings::live_updates, after every
    // turn.
    virtual void updated(const Events& /*events*/) {}

    // Returns another answer after the referee rejected one; only a few are forgiven per match.
    //
    // The default is the first legal action.
    virtual Answer rejected(const Decision& /*decision*/, const Rejection& rejection) {
        return rejection.legal_actions(0);
    }

    // Called with the result; result.results() has one entry per seat, in seat order.
    virtual void ended(const MatchEnded& /*result*/) {}

    // The match that this bot plays. It is set before started() is called, but not yet in the
    // constructor, where this throws BotError.
    [[nodiscard]] Match& match() const;

    // Sets the match; asara::run does, and so may a test of a bot.
    void set_match(std::unique_ptr<Match> match) { match_ = std::move(match); }

private:
    std::unique_ptr<Match> match_;
};

}  // namespace asara
