//! The bot's side of the protocol, independent of any transport: responses in, requests out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prost::bytes::Bytes;
use prost::Message;

use crate::bot::{Answer, Bot, Match};
use crate::error::Error;
use crate::settings::Settings;
use crate::v1::play_request::Request;
use crate::v1::play_response::Response;
use crate::v1::{
    DealCommitted, Decision, Event, Hello, LastEvent, MatchEnded, MatchStarted, PlayRequest,
    PlayResponse, Rejection, Reply, Update, Welcome,
};
use crate::verifier::{make_nonce, random_bytes, Verifier};
use crate::watchdog::Watchdog;

const PROTOCOL_VERSION: i32 = 1;

/// Bytes of `Hello.bot_name`.
const NAME_BYTES: usize = 64;

/// Returns the bot of a new match.
pub(crate) type MakeBot<'b> = dyn FnMut() -> Box<dyn Bot + 'b> + 'b;

/// A running match with its bot.
struct ActiveMatch<'b> {
    bot: Box<dyn Bot + 'b>,
    match_: Match,
    /// Number of the last event passed to the bot.
    sequence: i64,
    /// The last decision asked.
    decision: Decision,
    /// The serialized reply to it.
    request: Bytes,
}

/// Passes responses to the bots of the running matches and returns the requests to send.
///
/// One instance serves all streams of a process: matches continue after a reconnection.
///
/// It knows no type of bot: with a parameter for it, all of gRPC would be compiled again with every
/// change of a bot.
pub(crate) struct ProtocolClient<'a, 'b> {
    make_bot: &'a mut MakeBot<'b>,
    settings: &'a Settings,
    watchdog: &'a Watchdog,
    /// The seed of the settings, or a random one.
    seed: String,
    transcripts: Option<PathBuf>,
    welcome: Welcome,
    matches: BTreeMap<String, ActiveMatch<'b>>,
    /// Verifiers of joint deals whose match has not started.
    pending: BTreeMap<String, Verifier>,
    /// True once the referee has answered Hello; the transport resets it for every stream.
    pub(crate) welcomed: bool,
    /// True once the referee has sent Goodbye.
    pub(crate) finished: bool,
}

impl<'a, 'b> ProtocolClient<'a, 'b> {
    pub(crate) fn new(
        make_bot: &'a mut MakeBot<'b>,
        settings: &'a Settings,
        transcripts: Option<&Path>,
        watchdog: &'a Watchdog,
    ) -> Self {
        let seed = match settings.seed.as_str() {
            "" => format!("{:032x}", u128::from_ne_bytes(random_bytes())),
            seed => seed.into(),
        };
        ProtocolClient {
            make_bot,
            settings,
            watchdog,
            seed,
            transcripts: transcripts.map(Into::into),
            welcome: Welcome::default(),
            matches: BTreeMap::new(),
            pending: BTreeMap::new(),
            welcomed: false,
            finished: false,
        }
    }

    /// Returns the first request of a stream, serialized.
    pub(crate) fn hello(&self) -> Bytes {
        let settings = self.settings;
        serialize(Request::Hello(Hello {
            protocol_version: PROTOCOL_VERSION,
            token: settings.token.0.clone(),
            bot_name: shorten(&settings.bot_name).into(),
            language: "Rust".into(),
            max_matches: settings.matches_at_once(),
            live_updates: settings.live_updates,
            omit_public_view: settings.omit_public_view,
            last_events: self
                .matches
                .iter()
                .map(|(match_id, active)| LastEvent {
                    match_id: match_id.clone(),
                    sequence: active.sequence,
                })
                .collect(),
        }))
    }

    /// Processes one serialized response; returns the request that it asks for, if any.
    pub(crate) fn handle(&mut self, message: &Bytes) -> Result<Option<Bytes>, Error> {
        let response = PlayResponse::decode(message.clone())
            .map_err(|error| self.unreadable(&error.to_string()))?;
        match response.response {
            Some(Response::Decision(decision)) => return self.decide(decision, message),
            Some(Response::Update(update)) => self.update(&update, message),
            Some(Response::MatchStarted(started)) => self.start_match(started, message),
            Some(Response::MatchEnded(ended)) => self.end_match(&ended, message),
            Some(Response::Rejection(rejection)) => return self.reject(&rejection, message),
            Some(Response::DealCommitted(committed)) => {
                return Ok(self.send_nonce(committed, message))
            }
            Some(Response::Welcome(welcome)) => {
                self.welcome = welcome;
                self.welcomed = true;
            }
            Some(Response::Goodbye(_)) => self.finished = true,
            None => {} // of a later version of the protocol
        }
        Ok(None)
    }

    fn unreadable(&self, detail: &str) -> Error {
        Error::Refused {
            address: self.settings.address.clone(),
            code: "INTERNAL",
            reason: "unreadable-response".into(),
            detail: detail.into(),
        }
    }

    fn send_nonce(&mut self, committed: DealCommitted, message: &[u8]) -> Option<Bytes> {
        let (match_id, seat) = (committed.match_id.clone(), committed.seat);
        if self.matches.contains_key(&match_id) {
            eprintln!("asara: {match_id}: nonce requested after the match started");
            return None;
        }
        let nonce = make_nonce(&self.settings.seed, &match_id, seat);
        let transcripts = self.transcripts.as_deref();
        let verifier = self
            .pending
            .entry(match_id)
            .or_insert_with_key(|match_id| Verifier::new(match_id, seat, transcripts));
        let nonce = verifier.deal_committed(committed, message, nonce);
        Some(serialize(Request::Nonce(nonce)))
    }

    fn start_match(&mut self, started: MatchStarted, message: &[u8]) {
        let match_id = started.match_id.clone();
        if let Some(active) = self.matches.get_mut(&match_id) {
            // resumed after a reconnection, which the bot need not notice
            active.match_.verifier.record(message);
            active.match_.verifier.match_started(&started);
            return;
        }
        let seat = started.seat;
        let pending = self.pending.remove(&match_id);
        let mut verifier =
            pending.unwrap_or_else(|| Verifier::new(&match_id, seat, self.transcripts.as_deref()));
        verifier.record(message);
        verifier.match_started(&started);
        match self.settings.seat {
            Some(expected) if expected != seat => {
                eprintln!("asara: {match_id}: seat {seat}, expected seat {expected}");
            }
            _ => {}
        }
        let (entry, sequence) = (self.welcome.entry.clone(), started.sequence);
        let limits = self.welcome.limits.unwrap_or_default();
        let match_ = Match::new(started, entry, limits, &self.seed, verifier);
        let running = self
            .watchdog
            .begin(format!("started() in {match_id}"), match_.clocks().bank_us);
        let mut bot = (self.make_bot)();
        bot.started(&match_);
        drop(running);
        let active = ActiveMatch {
            bot,
            match_,
            sequence,
            decision: Decision::default(),
            request: Bytes::new(),
        };
        self.matches.insert(match_id, active);
    }

    fn update(&mut self, update: &Update, message: &[u8]) {
        if let Some(active) = self.matches.get_mut(&update.match_id) {
            active.match_.verifier.record(message);
            active.deliver(&update.events, update.sequence);
        }
    }

    fn end_match(&mut self, ended: &MatchEnded, message: &[u8]) {
        if let Some(mut pending) = self.pending.remove(&ended.match_id) {
            // cancelled before it started
            pending.record(message);
            pending.finish();
        }
        if let Some(mut active) = self.matches.remove(&ended.match_id) {
            active.match_.verifier.record(message);
            active.match_.verifier.match_ended(ended);
            active.deliver(&ended.events, ended.sequence);
            active.bot.ended(ended, &active.match_);
        }
    }

    fn decide(&mut self, decision: Decision, message: &[u8]) -> Result<Option<Bytes>, Error> {
        let Some(active) = self.matches.get_mut(&decision.match_id) else {
            let match_id = &decision.match_id;
            eprintln!("asara: {match_id}: decision for an unknown match");
            return Ok(None);
        };
        active.match_.verifier.record(message);
        let _running = self.watchdog.begin(name(&decision), decision.clock_us);
        let _place = PlaceOfPanic(&decision);
        active.deliver(&decision.events, decision.sequence);
        if decision.decision_id != active.decision.decision_id {
            let answer = active.bot.decide(&decision, &active.match_);
            active.request = reply(&decision, "decide", answer)?;
            drop(_place);
            active.decision = decision;
        }
        // A decision repeated after a reconnection gets the same reply.
        Ok(Some(active.request.clone()))
    }

    fn reject(&mut self, rejection: &Rejection, message: &[u8]) -> Result<Option<Bytes>, Error> {
        let Some(active) = self.matches.get_mut(&rejection.match_id) else {
            return Ok(None);
        };
        active.match_.verifier.record(message);
        let decision = &active.decision;
        if decision.decision_id != rejection.decision_id {
            return Ok(None);
        }
        eprintln!(
            "asara: the reply to {} was rejected ({}); {}; \
             return one of decision.legal_actions as it is",
            name(decision),
            match rejection.detail.as_str() {
                "" => rejection.reason().as_str_name(),
                detail => detail,
            },
            forgiveness(rejection.forgiven),
        );
        let _running = self.watchdog.begin(name(decision), rejection.clock_us);
        let _place = PlaceOfPanic(decision);
        let answer = active.bot.rejected(decision, rejection, &active.match_);
        active.request = reply(decision, "rejected", answer)?;
        Ok(Some(active.request.clone()))
    }
}

impl ActiveMatch<'_> {
    /// Passes on the events that are new to the bot; a reconnection may repeat some.
    fn deliver(&mut self, events: &[Event], sequence: i64) {
        let new = usize::try_from(sequence - self.sequence).unwrap_or(0);
        if events.is_empty() || new == 0 {
            return;
        }
        self.sequence = sequence;
        let first = events.len().saturating_sub(new);
        self.bot.updated(&events[first..], &self.match_);
    }
}

/// Names match and decision on standard error if the author's code panics.
struct PlaceOfPanic<'a>(&'a Decision);

impl Drop for PlaceOfPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Decision {
                match_id,
                decision_id,
                ..
            } = self.0;
            let kind = self.0.kind().as_str_name();
            let kind = kind.trim_start_matches("DECISION_KIND_").to_lowercase();
            let kind = kind.replace('_', " ");
            eprintln!("in {match_id}, decision {decision_id} ({kind})");
        }
    }
}

fn name(decision: &Decision) -> String {
    format!("decision {} of {}", decision.decision_id, decision.match_id)
}

/// Returns the serialized reply with the answer of a method.
fn reply(decision: &Decision, method: &str, answer: Answer) -> Result<Bytes, Error> {
    if answer.0.is_empty() {
        return Err(Error::Bot(format!(
            "{method} returned an empty list for {}; \
             return one of decision.legal_actions, or a list that begins with one",
            name(decision)
        )));
    }
    Ok(serialize(Request::Reply(Reply {
        match_id: decision.match_id.clone(),
        decision_id: decision.decision_id,
        actions: answer.0,
    })))
}

fn serialize(request: Request) -> Bytes {
    let request = PlayRequest {
        request: Some(request),
    };
    request.encode_to_vec().into()
}

/// Returns the consequence of further rejections if `more` are forgiven in the match.
fn forgiveness(more: i32) -> String {
    match more {
        0 => "the next rejection forfeits the match".into(),
        1 => "1 more is forgiven in this match".into(),
        _ => format!("{more} more are forgiven in this match"),
    }
}

/// Truncates a name, at the end of a character.
fn shorten(name: &str) -> &str {
    let mut end = name.len().min(NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_truncated_at_a_character() {
        assert_eq!(shorten("short"), "short");
        assert_eq!(shorten(&"é".repeat(40)), "é".repeat(32));
        assert_eq!(shorten(&format!("x{}", "é".repeat(40))).len(), 63);
    }
}
