//! Plays random legal actions.

use asara::{Action, Decision, Match};

fn decide(decision: &Decision, match_: &Match) -> Action {
    match_.random_action(decision)
}

fn main() {
    asara::run(|| decide);
}
