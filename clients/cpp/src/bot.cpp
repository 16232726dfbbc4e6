#include "asara/bot.hpp"

#include "asara/error.hpp"

namespace asara {

Match& Bot::match() const {
    if (match_ == nullptr) {
        throw BotError("match() is not set in the constructor of a bot; use it from started() on");
    }
    return *match_;
}

}  // namespace asara
