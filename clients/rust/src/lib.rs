//! Write a bot for ASARA: a function that chooses one of the legal actions of a decision.
//!
//! ```no_run
//! use asara::{Action, Decision, Match};
//!
//! fn decide(decision: &Decision, match_: &Match) -> Action {
//!     match_.random_action(decision)
//! }
//!
//! asara::run(|| decide);
//! ```
//!
//! [`run`] connects to the referee named by the environment, plays every match it is assigned and
//! returns when the referee sends Goodbye. A bot with memory is a type with the trait [`Bot`].
//! Messages and enums of the protocol are available under their own names: [`Decision`],
//! [`Area::Bank`].

#![warn(missing_docs)]

mod bot;
mod client;
mod error;
mod protocol_client;
mod settings;
mod text;
mod transport;
#[allow(clippy::all, clippy::pedantic)]
mod v1;
#[cfg(test)]
mod vectors;
mod verifier;
mod views;
mod watchdog;

pub use bot::{Answer, Bot, Match};
pub use client::{play, run, run_with};
pub use error::Error;
pub use rand;
pub use settings::Settings;
pub use text::{format_action, parse_action, ParseActionError};
pub use v1::*;

/// The examples of the README, which `cargo test` compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
