//! Checks on the referee: nonces of joint deals, commitment, message digest and transcript.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac};

use crate::error::cause;
use crate::v1::{DealCommitted, MatchEnded, MatchStarted, Nonce};

const NONCE_BYTES: usize = 32;

/// Characters of a transcript's file name, without seat and extension.
const NAME_LENGTH: usize = 200;

/// Returns the SHA-256 hash of the concatenated parts.
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        context.update(part);
    }
    let hash = context.finish();
    hash.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Returns random bytes of the operating system.
pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new()
        .fill(&mut bytes)
        .expect("the operating system has random bytes");
    bytes
}

/// Returns 32 random bytes, or bytes derived from seed, match and seat if there is a seed.
pub(crate) fn make_nonce(seed: &str, match_id: &str, seat: i32) -> Vec<u8> {
    if seed.is_empty() {
        return random_bytes::<NONCE_BYTES>().into();
    }
    let key = hmac::Key::new(hmac::HMAC_SHA256, seed.as_bytes());
    let text = format!("nonce/{match_id}/{seat}");
    hmac::sign(&key, text.as_bytes()).as_ref().into()
}

/// Verifies one match, from its first message to its last, across reconnections.
///
/// Violations and failures of the transcript are logged; neither stops the match.
#[derive(Debug)]
pub(crate) struct Verifier {
    /// SHA-256 of the previous digest and the last message; initially 32 zero bytes.
    pub(crate) digest: [u8; 32],
    match_id: String,
    commitment: Vec<u8>,
    commitment_message: Vec<u8>,
    nonce: Vec<u8>,
    shared_deal: bool,
    transcript: Option<Transcript>,
}

#[derive(Debug)]
struct Transcript {
    file: File,
    path: PathBuf,
}

impl Verifier {
    /// `folder` is the folder for transcripts, if they are wanted.
    pub(crate) fn new(match_id: &str, seat: i32, folder: Option<&Path>) -> Self {
        let mut verifier = Verifier {
            digest: [0; 32],
            match_id: match_id.into(),
            commitment: vec![],
            commitment_message: vec![],
            nonce: vec![],
            shared_deal: false,
            transcript: None,
        };
        if let Some(folder) = folder {
            match open(folder, match_id, seat) {
                Ok(transcript) => verifier.transcript = Some(transcript),
                Err(error) => verifier.stop_transcript(&error),
            }
        }
        verifier
    }

    /// Adds a message of the match, exactly as received, to the digest and the transcript.
    pub(crate) fn record(&mut self, message: &[u8]) {
        self.digest = sha256(&[&self.digest, message]);
        if let Some(transcript) = &mut self.transcript {
            let mut record = Vec::with_capacity(message.len() + 10);
            prost::encoding::encode_varint(message.len() as u64, &mut record);
            record.extend_from_slice(message);
            if let Err(error) = transcript.file.write_all(&record) {
                self.stop_transcript(&error);
            }
        }
    }

    /// Records the commitment and returns the nonce to send.
    ///
    /// A commitment that is repeated after a reconnection is recorded once, and gets the first
    /// nonce again.
    pub(crate) fn deal_committed(
        &mut self,
        committed: DealCommitted,
        message: &[u8],
        nonce: Vec<u8>,
    ) -> Nonce {
        if message != self.commitment_message {
            if self.commitment_message.is_empty() {
                self.commitment = committed.deal_commitment;
                self.nonce = nonce;
            } else {
                self.check_commitment(&committed.deal_commitment);
            }
            self.commitment_message = message.into();
            self.record(message);
        }
        Nonce {
            match_id: self.match_id.clone(),
            nonce: self.nonce.clone(),
        }
    }

    /// Checks the commitment and this bot's nonce; also called when the match resumes.
    pub(crate) fn match_started(&mut self, started: &MatchStarted) {
        if self.commitment.is_empty() {
            self.commitment = started.deal_commitment.clone();
        }
        self.check_commitment(&started.deal_commitment);
        self.shared_deal = started.shared_deal;
        let seat = usize::try_from(started.seat).unwrap_or(usize::MAX);
        let found = started.nonces.get(seat).map_or(&[][..], Vec::as_slice);
        if !self.nonce.is_empty() && found != self.nonce {
            self.report_violation("the deal was made without the nonce of this bot");
        }
    }

    /// Checks that the secret opens the commitment, and closes the transcript.
    ///
    /// A match with a shared deal may withhold its secret; its replay has it.
    pub(crate) fn match_ended(&mut self, ended: &MatchEnded) {
        let secret = &ended.deal_secret;
        let withheld = ended.void || (self.shared_deal && secret.is_empty());
        if !withheld && sha256(&[secret]) != self.commitment[..] {
            self.report_violation(&format!(
                "the secret {} does not open the commitment {}",
                hex(secret),
                hex(&self.commitment)
            ));
        }
        self.finish();
    }

    /// Closes the transcript, and writes the digest of the match beside it.
    pub(crate) fn finish(&mut self) {
        if let Some(transcript) = self.transcript.take() {
            let text = format!("{}\n", hex(&self.digest));
            let path = transcript.path.with_extension("digest");
            if let Err(error) = std::fs::write(path, text) {
                self.stop_transcript(&error);
            }
        }
    }

    fn check_commitment(&self, commitment: &[u8]) {
        if commitment != self.commitment {
            self.report_violation(&format!(
                "the commitment {} was changed to {}",
                hex(&self.commitment),
                hex(commitment)
            ));
        }
    }

    fn report_violation(&self, violation: &str) {
        eprintln!(
            "asara: {}: THE DEAL CANNOT BE TRUSTED: {violation}; keep the transcript and the \
             replay, and inform the organiser",
            self.match_id
        );
    }

    fn stop_transcript(&mut self, error: &io::Error) {
        self.transcript = None;
        let (match_id, cause) = (&self.match_id, cause(error));
        eprintln!("asara: {match_id}: transcript stopped: {cause}");
    }
}

/// Creates a transcript under a name that no earlier run has used.
fn open(folder: &Path, match_id: &str, seat: i32) -> io::Result<Transcript> {
    let name = format!("{}-seat{seat}", file_name(match_id));
    let mut number = 1;
    loop {
        let suffix = match number {
            1 => String::new(),
            _ => format!("-{number}"),
        };
        let path = folder.join(format!("{name}{suffix}.transcript"));
        match File::options().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok(Transcript { file, path }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Returns a file name that stays inside its folder for any name of a match.
fn file_name(match_id: &str) -> String {
    let mut text = String::new();
    for (index, byte) in match_id.bytes().enumerate() {
        let safe = byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
        if safe && (index, byte) != (0, b'.') {
            text.push(byte.into());
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text.truncate(NAME_LENGTH);
    text
}

fn hex(data: &[u8]) -> String {
    if data.is_empty() {
        return "(none)".into();
    }
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use prost::Message;

    use super::*;
    use crate::v1::{play_response::Response, PlayResponse};
    use crate::vectors;

    #[test]
    fn digest_and_transcript_hold_the_bytes_as_received() {
        let folder = env::temp_dir().join(format!("asara-verifier-{}", process::id()));
        fs::create_dir(&folder).unwrap();
        let vectors = vectors::read("digest.json");
        let (id, seat) = (vectors["match_id"].as_str().unwrap(), 1);
        let (mut responses, mut digest) = (vec![], String::new());
        let mut verifier = Verifier::new(id, seat, Some(&folder));
        for row in vectors["messages"].as_array().unwrap() {
            let message = vectors::hex(&row["message"]);
            digest = row["digest"].as_str().unwrap().into();
            let response = PlayResponse::decode(message.as_slice()).unwrap();
            responses.push(response.clone());
            match response.response {
                Some(Response::DealCommitted(committed)) => {
                    let nonce = make_nonce("1", id, seat);
                    let first = verifier.deal_committed(committed.clone(), &message, nonce);
                    let again = verifier.deal_committed(committed, &message, vec![]);
                    assert_eq!(first, again);
                }
                _ => verifier.record(&message),
            }
            assert_eq!(hex(&verifier.digest), digest);
        }
        verifier.finish();

        let mut transcript = &fs::read(folder.join("m1-seat1.transcript")).unwrap()[..];
        for response in responses {
            let found = PlayResponse::decode_length_delimited(&mut transcript).unwrap();
            assert_eq!(found, response);
        }
        assert!(transcript.is_empty());
        let written = fs::read_to_string(folder.join("m1-seat1.digest")).unwrap();
        assert_eq!(written, format!("{digest}\n"));

        Verifier::new(id, seat, Some(&folder)).finish();
        assert!(folder.join("m1-seat1-2.transcript").exists());
        assert!(folder.join("m1-seat1-2.digest").exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn nonces_agree_with_the_vectors() {
        let vectors = vectors::read("joint_deal.json");
        for row in vectors["seeded_nonces"].as_array().unwrap() {
            let text = |name: &str| row[name].as_str().unwrap();
            let seat = row["seat"].as_i64().unwrap() as i32;
            let nonce = make_nonce(text("seed"), text("match_id"), seat);
            assert_eq!(hex(&nonce), text("nonce"));
        }
        let random = make_nonce("", "m", 0);
        assert_eq!(random.len(), NONCE_BYTES);
        assert_ne!(random, make_nonce("", "m", 0));
    }

    #[test]
    fn file_names_stay_in_their_folder() {
        assert_eq!(file_name("r1-pro+gifts_0007.2"), "r1-pro+gifts_0007.2");
        assert_eq!(file_name("../a é"), "%2E.%2Fa%20%C3%A9");
        assert_eq!(file_name(&"x".repeat(300)).len(), 200);
    }
}
