#pragma once

#include <string>
#include <string_view>

#include "asara/messages.hpp"

namespace asara {

// The short text form of an action, which replays and the referee's logs also use, such as
// `dispatch bank 12` or `take red trunk gold`.
//
// An action with no member set reads `no action`; enum values unknown to this version read as
// numbers. Never fails, so that it is safe in a log line.
std::string format_action(const Action& action);

// The action of a text form; throws std::invalid_argument naming the word that is wrong.
Action parse_action(std::string_view text);

}  // namespace asara
