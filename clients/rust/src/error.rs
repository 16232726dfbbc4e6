//! Errors of this crate.

use std::error;
use std::fmt;

/// An error that ends [`play`](crate::play); its text is a single line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A setting is missing or invalid.
    Configuration(String),
    /// The author's code misuses this crate: `decide` returned an empty answer, for example.
    Bot(String),
    /// The referee ended the stream for a reason that a new connection would not change.
    #[non_exhaustive]
    Refused {
        /// Address of the referee.
        address: String,
        /// Name of the gRPC status, such as `UNAUTHENTICATED`.
        code: &'static str,
        /// The referee's `asara-reason`, such as `unknown-token`; empty if it sent none.
        reason: String,
        /// Text of the status.
        detail: String,
    },
    /// No referee could be reached for longer than [`Settings::patience_s`](crate::Settings::patience_s).
    #[non_exhaustive]
    ConnectionLost {
        /// Address of the referee.
        address: String,
        /// The setting, in seconds.
        patience_s: f64,
        /// Why the last connection failed.
        detail: String,
    },
}

impl Error {
    /// Exit status of a bot that [`run`](crate::run) ends because of this error.
    pub fn exit_status(&self) -> i32 {
        match self {
            Error::Configuration(_) => 2,
            _ => 1,
        }
    }
}

impl error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Configuration(text) | Error::Bot(text) => f.write_str(text),
            Error::Refused {
                address,
                code,
                reason,
                detail,
            } => {
                let reason = if reason.is_empty() {
                    *code
                } else {
                    reason.as_str()
                };
                let detail = line(detail);
                write!(
                    f,
                    "the referee at {address} refused this bot ({reason}): {detail}"
                )?;
                match advice(code) {
                    "" => Ok(()),
                    advice => write!(f, "; {advice}"),
                }
            }
            Error::ConnectionLost {
                address,
                patience_s,
                detail,
            } => {
                let detail = line(detail);
                write!(f, "no referee at {address} for {patience_s} s: {detail}")
            }
        }
    }
}

fn advice(code: &str) -> &'static str {
    match code {
        "UNAUTHENTICATED" => {
            "set ASARA_TOKEN to what `asara match` printed last, or what the organiser gave you"
        }
        "FAILED_PRECONDITION" | "INVALID_ARGUMENT" => {
            "use the client library that comes with the referee"
        }
        "ABORTED" => "each process needs its own token",
        "RESOURCE_EXHAUSTED" => "see the limits in proto/README.md",
        "UNIMPLEMENTED" => "no ASARA referee listens there; check ASARA_ADDRESS",
        _ => "",
    }
}

/// Returns a text without line breaks.
pub(crate) fn line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    if words.is_empty() {
        return "no details".into();
    }
    words.join(" ")
}

/// Returns the cause of an error of the operating system, without its number.
pub(crate) fn cause(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((cause, _)) => cause.into(),
        None => text,
    }
}
