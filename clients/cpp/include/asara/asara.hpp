// Lets a bot written in C++ play ASARA: a subclass of asara::Bot, or a function, and asara::run.
#pragma once

#include "asara/bot.hpp"       // IWYU pragma: export
#include "asara/error.hpp"     // IWYU pragma: export
#include "asara/match.hpp"     // IWYU pragma: export
#include "asara/messages.hpp"  // IWYU pragma: export
#include "asara/run.hpp"       // IWYU pragma: export
#include "asara/settings.hpp"  // IWYU pragma: export
#include "asara/text.hpp"      // IWYU pragma: export
