//! The interface of a bot: a type with the trait `Bot`, or a function for a bot without memory.

use std::cell::{RefCell, RefMut};

use rand::rngs::ChaCha12Rng;
use rand::SeedableRng;

use crate::v1::{
    Action, Clocks, Decision, Edition, Event, Limits, MatchEnded, MatchStarted, Rejection, RuleSet,
    View,
};
use crate::verifier::{sha256, Verifier};

/// Plays one seat of one match; every match gets its own value.
///
/// All methods are called from the thread of [`run`](crate::run), one at a time: while a bot decides
/// in one match, the clocks of its other matches run. A function
/// `fn(&Decision, &Match) -> Action` is a bot without memory.
pub trait Bot {
    /// Returns one of `decision.legal_actions`, or a list that begins with one.
    ///
    /// Further actions are applied in order while each is legal. The first illegal one ends the list
    /// without penalty, and the next decision is asked as usual. Called once per decision.
    fn decide(&mut self, decision: &Decision, match_: &Match) -> Answer;

    /// Called when the match starts, or resumes in a new process (`match_.started().resumed`).
    fn started(&mut self, match_: &Match) {
        let _ = match_;
    }

    /// Called with new events, each once and in order, before the decision that follows them.
    ///
    /// Events arrive with decisions and the result or, with
    /// [`live_updates`](crate::Settings::live_updates), after every turn.
    fn updated(&mut self, events: &[Event], match_: &Match) {
        let _ = (events, match_);
    }

    /// Returns another answer after the referee rejected one; only a few are forgiven per match.
    ///
    /// The default is the first legal action.
    fn rejected(&mut self, decision: &Decision, rejection: &Rejection, match_: &Match) -> Answer {
        let _ = match_;
        let legal = rejection.legal_actions.first();
        legal.or(decision.legal_actions.first()).into()
    }

    /// Called with the result; `result.results` has one entry per seat, in seat order.
    fn ended(&mut self, result: &MatchEnded, match_: &Match) {
        let _ = (result, match_);
    }
}

impl<F, A> Bot for F
where
    F: FnMut(&Decision, &Match) -> A,
    A: Into<Answer>,
{
    fn decide(&mut self, decision: &Decision, match_: &Match) -> Answer {
        self(decision, match_).into()
    }
}

/// One of `decision.legal_actions`, or several actions in order, up to the end of the turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer(pub(crate) Vec<Action>);

impl From<Action> for Answer {
    fn from(action: Action) -> Self {
        Answer(vec![action])
    }
}

impl From<&Action> for Answer {
    fn from(action: &Action) -> Self {
        action.clone().into()
    }
}

impl From<Option<&Action>> for Answer {
    fn from(action: Option<&Action>) -> Self {
        Answer(action.into_iter().cloned().collect())
    }
}

impl From<Vec<Action>> for Answer {
    fn from(actions: Vec<Action>) -> Self {
        Answer(actions)
    }
}

impl<const N: usize> From<[Action; N]> for Answer {
    fn from(actions: [Action; N]) -> Self {
        Answer(actions.into())
    }
}

/// A match, from the seat of one bot.
#[derive(Debug)]
pub struct Match {
    started: MatchStarted,
    entry: String,
    limits: Limits,
    rule_sets: Vec<RuleSet>,
    seed: String,
    random: RefCell<ChaCha12Rng>,
    pub(crate) verifier: Verifier,
}

impl Match {
    pub(crate) fn new(
        mut started: MatchStarted,
        entry: String,
        limits: Limits,
        seed: &str,
        verifier: Verifier,
    ) -> Self {
        // Unset messages read as empty ones, so that the methods need no Option.
        started.edition.get_or_insert_default();
        started.clocks.get_or_insert_default();
        started.view.get_or_insert_default();
        let text = format!("{seed}/{}/{}", started.match_id, started.seat);
        Match {
            rule_sets: started.rule_sets().collect(),
            random: RefCell::new(ChaCha12Rng::from_seed(sha256(&[text.as_bytes()]))),
            started,
            entry,
            limits,
            seed: seed.into(),
            verifier,
        }
    }

    /// Name of the match.
    pub fn match_id(&self) -> &str {
        &self.started.match_id
    }

    /// This bot's seat, 0 to `seats` - 1.
    pub fn seat(&self) -> usize {
        self.started.seat.try_into().unwrap_or_default()
    }

    /// Number of seats.
    pub fn seats(&self) -> usize {
        self.started.seats.try_into().unwrap_or_default()
    }

    /// Rule sets of the match, such as [`RuleSet::Gifts`], in ascending order.
    pub fn rule_sets(&self) -> &[RuleSet] {
        &self.rule_sets
    }

    /// Prices, spaces, tile counts and awards, which may differ between editions.
    pub fn edition(&self) -> &Edition {
        present(&self.started.edition)
    }

    /// Time limits in microseconds.
    pub fn clocks(&self) -> &Clocks {
        present(&self.started.clocks)
    }

    /// View of the seat when the match started; each decision carries a newer one.
    pub fn view(&self) -> &View {
        present(&self.started.view)
    }

    /// Name of this bot's entry in the match or tournament.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// Limits that the referee enforces.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Random numbers that depend on `ASARA_SEED`, the match and the seat alone.
    ///
    /// The traits of [`rand`](crate::rand) use them: `legal.choose(&mut match_.random())`.
    pub fn random(&self) -> RefMut<'_, ChaCha12Rng> {
        self.random.borrow_mut()
    }

    /// Returns one of the legal actions, chosen by the rule that bots in every language share.
    ///
    /// The choice depends on `ASARA_SEED`, the match, the seat and the decision alone, so a repeated
    /// call returns the same action.
    pub fn random_action(&self, decision: &Decision) -> Action {
        let legal = &decision.legal_actions;
        let (id, seat) = (&self.started.match_id, self.started.seat);
        let index = random_index(&self.seed, id, seat, decision.decision_id, legal.len());
        legal[index].clone()
    }

    /// The message, which also has the commitment to the deal, and `resumed`.
    pub fn started(&self) -> &MatchStarted {
        &self.started
    }

    /// SHA-256 digest of the messages of the match received so far.
    ///
    /// At the end it equals the digest of this seat in the replay, unless messages were lost when
    /// the stream broke.
    pub fn digest(&self) -> [u8; 32] {
        self.verifier.digest
    }
}

fn present<T>(message: &Option<T>) -> &T {
    message.as_ref().expect("Match::new sets it")
}

/// Returns the index that proto/README.md defines under "Random legal actions".
fn random_index(seed: &str, match_id: &str, seat: i32, decision_id: i64, count: usize) -> usize {
    let text = format!("{seed}/{match_id}/{seat}/{decision_id}");
    let hash = sha256(&[text.as_bytes()]);
    let number = u64::from_be_bytes(hash[..8].try_into().expect("8 bytes"));
    (number % count as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::read;

    #[test]
    fn random_actions_agree_with_the_vectors() {
        for choice in read("random_action.json")["choices"].as_array().unwrap() {
            let number = |name: &str| choice[name].as_i64().unwrap();
            let text = |name: &str| choice[name].as_str().unwrap();
            let index = random_index(
                text("seed"),
                text("match_id"),
                number("seat") as i32,
                number("decision_id"),
                number("count") as usize,
            );
            assert_eq!(index as i64, number("index"), "{choice}");
        }
    }

    #[test]
    fn random_numbers_depend_on_seed_match_and_seat_alone() {
        use rand::Rng;

        let number = |seed: &str, match_id: &str, seat| {
            let started = MatchStarted {
                match_id: match_id.into(),
                seat,
                ..Default::default()
            };
            let verifier = Verifier::new(match_id, seat, None);
            let match_ = Match::new(started, String::new(), Limits::default(), seed, verifier);
            let number = match_.random().next_u64();
            number
        };
        assert_eq!(number("1", "m", 0), number("1", "m", 0));
        assert_ne!(number("1", "m", 0), number("2", "m", 0));
        assert_ne!(number("1", "m", 0), number("1", "n", 0));
        assert_ne!(number("1", "m", 0), number("1", "m", 1));
    }
}
