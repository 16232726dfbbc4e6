#pragma once

#include <concepts>
#include <functional>
#include <memory>

#include "asara/bot.hpp"
#include "asara/match.hpp"
#include "asara/messages.hpp"
#include "asara/settings.hpp"

namespace asara {

// Returns the bot of a new match.
using BotFactory = std::function<std::unique_ptr<Bot>()>;

// A bot without memory.
using DecideFunction = std::function<Answer(const Decision&, Match&)>;

// Plays until the referee sends Goodbye; the last line of a bot's program. Settings that are empty
// come from the environment.
//
// Returns the exit status: 0 after Goodbye, 2 for a missing or invalid setting, otherwise 1.
// Errors, also exceptions of the author's code, are one line on standard error.
int run(const BotFactory& make_bot, const Settings& settings = {});
int run(const DecideFunction& decide, const Settings& settings = {});

template <std::derived_from<Bot> B>
int run(const Settings& settings = {}) {
    return run(BotFactory([] { return std::make_unique<B>(); }), settings);
}

// Like run, for programs that continue afterwards: throws Error, and lets exceptions of the
// author's code pass.
void play(const BotFactory& make_bot, const Settings& settings = {});
void play(const DecideFunction& decide, const Settings& settings = {});

template <std::derived_from<Bot> B>
void play(const Settings& settings = {}) {
    play(BotFactory([] { return std::make_unique<B>(); }), settings);
}

}  // namespace asara
