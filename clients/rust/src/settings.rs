//! Settings of a bot: those of its author, completed from the environment.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use rustls::pki_types::{pem::PemObject, CertificateDer};

use crate::error::{cause, Error};

const DEFAULT_PATIENCE_S: f64 = 30.0;

/// The options of a bot. Those that are not set come from the environment.
///
/// ```
/// let settings = asara::Settings::new().bot_name("watchful 1.0").max_matches(4);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Settings {
    pub(crate) address: String,
    pub(crate) token: Token,
    pub(crate) seat: Option<i32>,
    pub(crate) seed: String,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) transcript: Option<PathBuf>,
    pub(crate) bot_name: String,
    pub(crate) max_matches: Option<i32>,
    pub(crate) live_updates: bool,
    pub(crate) omit_public_view: bool,
    pub(crate) patience_s: Option<f64>,
}

/// A secret, which is not printed.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Token(pub(crate) String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl Settings {
    /// Returns settings that all come from the environment.
    pub fn new() -> Self {
        Self::default()
    }

    /// `ASARA_ADDRESS`: address of the referee, `host:port` or `unix:/path`.
    pub fn address(mut self, address: impl Into<String>) -> Self {
        self.address = address.into();
        self
    }

    /// `ASARA_TOKEN`: secret that identifies this bot to the referee; never logged.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Token(token.into());
        self
    }

    /// `ASARA_SEAT`: expected seat, if this process plays a single match.
    pub fn seat(mut self, seat: i32) -> Self {
        self.seat = Some(seat);
        self
    }

    /// `ASARA_SEED`: seed of random numbers and of nonces; without one every run differs.
    pub fn seed(mut self, seed: impl Into<String>) -> Self {
        self.seed = seed.into();
        self
    }

    /// `ASARA_CA`: certificate (PEM) of the authority that signed the referee's; enables TLS.
    pub fn ca(mut self, path: impl Into<PathBuf>) -> Self {
        self.ca = Some(path.into());
        self
    }

    /// `ASARA_TRANSCRIPT`: folder for transcripts, one file per match with all messages received.
    pub fn transcript(mut self, folder: impl Into<PathBuf>) -> Self {
        self.transcript = Some(folder.into());
        self
    }

    /// Name and version of the program, for the referee's logs; truncated to 64 bytes.
    pub fn bot_name(mut self, name: impl Into<String>) -> Self {
        self.bot_name = name.into();
        self
    }

    /// Maximum number of matches played at once; default 1.
    pub fn max_matches(mut self, count: i32) -> Self {
        self.max_matches = Some(count);
        self
    }

    /// Call `updated` after every turn instead of before the next decision.
    pub fn live_updates(mut self, live: bool) -> Self {
        self.live_updates = live;
        self
    }

    /// Omit `view.public_view` from decisions, for bots that follow the events.
    pub fn omit_public_view(mut self, omit: bool) -> Self {
        self.omit_public_view = omit;
        self
    }

    /// `ASARA_PATIENCE_S`: seconds to try to reach the referee before giving up; default 30.
    pub fn patience_s(mut self, seconds: f64) -> Self {
        self.patience_s = Some(seconds);
        self
    }

    /// Returns the settings completed from the environment, and checked.
    pub(crate) fn complete(
        mut self,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        let get = |name| environment(name).unwrap_or_default();
        let path = |name| environment(name).filter(|path| !path.is_empty());
        if self.address.is_empty() {
            self.address = get("ASARA_ADDRESS");
        }
        if self.token.0.is_empty() {
            self.token = Token(get("ASARA_TOKEN"));
        }
        if self.seat.is_none() {
            self.seat = parse_seat(&get("ASARA_SEAT"))?;
        }
        if self.seed.is_empty() {
            self.seed = get("ASARA_SEED");
        }
        if self.patience_s.is_none() {
            self.patience_s = parse_patience(&get("ASARA_PATIENCE_S"))?;
        }
        let given = |path: PathBuf| Some(path).filter(|path| !path.as_os_str().is_empty());
        self.ca = self.ca.and_then(given).or(path("ASARA_CA").map(Into::into));
        self.transcript = self
            .transcript
            .and_then(given)
            .or(path("ASARA_TRANSCRIPT").map(Into::into));
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> Result<(), Error> {
        let missing = match (self.address.is_empty(), self.token.0.is_empty()) {
            (true, true) => "ASARA_ADDRESS and ASARA_TOKEN are",
            (true, false) => "ASARA_ADDRESS is",
            (false, true) => "ASARA_TOKEN is",
            (false, false) => "",
        };
        if !missing.is_empty() {
            return Err(Error::Configuration(format!(
                "{missing} not set: start this bot with `asara match`, \
                 or set ASARA_ADDRESS (host:port or unix:/path) and ASARA_TOKEN"
            )));
        }
        let address = &self.address;
        if !address.starts_with("unix:") && host_and_port(address).is_none() {
            return Err(Error::Configuration(format!(
                "ASARA_ADDRESS is '{address}': expected host:port or unix:/path"
            )));
        }
        if self.matches_at_once() < 1 {
            let count = self.matches_at_once();
            return Err(Error::Configuration(format!(
                "max_matches is {count}: expected 1 or more"
            )));
        }
        let patience_s = self.patience();
        if patience_s.is_nan() || patience_s < 0.0 {
            return Err(Error::Configuration(format!(
                "patience_s is {patience_s}: expected 0 or more"
            )));
        }
        Ok(())
    }

    pub(crate) fn matches_at_once(&self) -> i32 {
        self.max_matches.unwrap_or(1)
    }

    pub(crate) fn patience(&self) -> f64 {
        self.patience_s.unwrap_or(DEFAULT_PATIENCE_S)
    }

    /// Returns the certificates of `ASARA_CA`, or None without TLS.
    pub(crate) fn authority(&self) -> Result<Option<Vec<u8>>, Error> {
        let Some(path) = &self.ca else {
            return Ok(None);
        };
        let name = path.display();
        let pem = fs::read(path).map_err(|error| {
            Error::Configuration(format!(
                "ASARA_CA: cannot read '{name}' ({}); expected the certificate of the authority \
                 that signed the referee's certificate",
                cause(&error)
            ))
        })?;
        if !holds_certificates(&pem) {
            return Err(Error::Configuration(format!(
                "ASARA_CA: '{name}' contains no PEM certificate"
            )));
        }
        Ok(Some(pem))
    }

    /// Returns the folder for transcripts, which is created if needed.
    pub(crate) fn transcript_folder(&self) -> Result<Option<&Path>, Error> {
        let Some(folder) = &self.transcript else {
            return Ok(None);
        };
        if env::var_os("ASARA_CONTAINED").is_some_and(|value| !value.is_empty()) {
            return Err(Error::Configuration(
                "a transcript is asked for, but the sandbox of this bot is deleted with everything \
                 in it; play with --sandbox none, or without the transcript"
                    .into(),
            ));
        }
        fs::create_dir_all(folder).map_err(|error| {
            Error::Configuration(format!(
                "ASARA_TRANSCRIPT: cannot create the folder '{}' ({}); choose a writable one",
                folder.display(),
                cause(&error)
            ))
        })?;
        Ok(Some(folder))
    }
}

fn holds_certificates(pem: &[u8]) -> bool {
    let mut authorities = rustls::RootCertStore::empty();
    CertificateDer::pem_slice_iter(pem)
        .all(|each| each.is_ok_and(|certificate| authorities.add(certificate).is_ok()))
        && !authorities.is_empty()
}

/// Splits `host:port`; brackets around an IPv6 address are kept.
pub(crate) fn host_and_port(address: &str) -> Option<(&str, &str)> {
    let (host, port) = address.rsplit_once(':')?;
    let number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (number && !host.is_empty()).then_some((host, port))
}

fn parse_seat(text: &str) -> Result<Option<i32>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse() {
        Ok(seat) if text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Some(seat)),
        _ => Err(Error::Configuration(format!(
            "ASARA_SEAT is '{text}': expected a seat number"
        ))),
    }
}

fn parse_patience(text: &str) -> Result<Option<f64>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    // `parse` also takes 1e3, +5 and inf.
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    match text.parse() {
        Ok(seconds) if digits(whole) && digits(fraction) => Ok(Some(seconds)),
        _ => Err(Error::Configuration(format!(
            "ASARA_PATIENCE_S is '{text}': expected seconds, such as 30 or 0.5"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(settings: Settings, environment: &[(&str, &str)]) -> Result<Settings, Error> {
        settings.complete(|name| {
            let found = environment.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).into())
        })
    }

    const NEEDED: [(&str, &str); 2] = [("ASARA_ADDRESS", "unix:/x"), ("ASARA_TOKEN", "t")];

    fn text(settings: Settings, environment: &[(&str, &str)]) -> String {
        let error = complete(settings, environment).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        error.to_string()
    }

    #[test]
    fn settings_of_the_author_take_precedence() {
        let own = Settings::new().address("h:1").patience_s(2.5);
        let found = complete(
            own,
            &[
                NEEDED[0],
                NEEDED[1],
                ("ASARA_PATIENCE_S", "7"),
                ("ASARA_SEAT", "1"),
            ],
        )
        .unwrap();
        assert_eq!(found.address, "h:1");
        assert_eq!(found.token.0, "t");
        assert_eq!(found.patience(), 2.5);
        assert_eq!(found.seat, Some(1));
        assert_eq!(complete(Settings::new(), &NEEDED).unwrap().patience(), 30.0);
    }

    #[test]
    fn missing_settings_are_named() {
        let both = text(Settings::new(), &[]);
        assert!(both.starts_with("ASARA_ADDRESS and ASARA_TOKEN are not set: start this bot"));
        let token = text(Settings::new().address("h:1"), &[]);
        assert!(token.starts_with("ASARA_TOKEN is not set: "));
    }

    #[test]
    fn invalid_settings_are_quoted() {
        let with = |name, value| text(Settings::new(), &[NEEDED[0], NEEDED[1], (name, value)]);
        assert_eq!(
            with("ASARA_SEAT", "-1"),
            "ASARA_SEAT is '-1': expected a seat number"
        );
        for value in ["soon", "1e3", "+5", "1.", "inf"] {
            assert_eq!(
                with("ASARA_PATIENCE_S", value),
                format!("ASARA_PATIENCE_S is '{value}': expected seconds, such as 30 or 0.5")
            );
        }
        assert_eq!(
            text(Settings::new().patience_s(-1.0), &NEEDED),
            "patience_s is -1: expected 0 or more"
        );
        assert_eq!(
            text(Settings::new().address("nowhere").token("t"), &[]),
            "ASARA_ADDRESS is 'nowhere': expected host:port or unix:/path"
        );
        assert_eq!(
            text(Settings::new().max_matches(0), &NEEDED),
            "max_matches is 0: expected 1 or more"
        );
    }

    #[test]
    fn a_token_is_not_printed() {
        let settings = Settings::new().token("secret");
        assert!(!format!("{settings:?}").contains("secret"));
    }
}
