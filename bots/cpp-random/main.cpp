// Plays random legal actions.
#include <asara/asara.hpp>

int main() {
    return asara::run([](const asara::Decision& decision, asara::Match& match) {
        return match.random_action(decision);
    });
}
