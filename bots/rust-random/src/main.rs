//! Plays random legal actions.

use asara::{Action, Decision, Match};

fn decide(match_: &Match, decision: &Decision) -> Action {
    match_.random_action(decision)
}

fn main() {
    asara::run(|| decide);
}
