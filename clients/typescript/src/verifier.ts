/** Checks on the referee: nonces of joint deals, commitment, message digest and transcript. */

import { equal, hex, utf8 } from "./bytes.js";
import type { DealCommitted, MatchEnded, MatchStarted } from "./gen/play_pb.js";
import type { Platform, Transcript } from "./platform.js";

const NONCE_BYTES = 32;
const NO_BYTES: Uint8Array = new Uint8Array();

/** Returns 32 random bytes, or bytes derived from seed, match and seat if there is a seed. */
export function makeNonce(
  platform: Platform,
  seed: string,
  matchId: string,
  seat: number,
): Uint8Array {
  if (seed === "") return platform.randomBytes(NONCE_BYTES);
  return platform.hmacSha256(utf8(seed), utf8(`nonce/${matchId}/${seat}`));
}

/**
 * Verifies one match, from its first message to its last, across reconnections.
 *
 * Violations and failures of the transcript are logged; neither stops the match. When the match has
 * ended, the digest is written beside the transcript.
 */
export class Verifier {
  /** SHA-256 of the previous digest and the last message; initially 32 zero bytes. */
  digest: Uint8Array = new Uint8Array(32);
  readonly #matchId: string;
  readonly #platform: Platform;
  /** Space for the digest and the message after it, which is used again for each message. */
  #hashed = NO_BYTES;
  #commitment = NO_BYTES;
  #commitmentMessage = NO_BYTES;
  #nonce = NO_BYTES;
  #sharedDeal = false;
  readonly #transcript: Transcript | undefined;

  constructor(matchId: string, seat: number, platform: Platform) {
    this.#matchId = matchId;
    this.#platform = platform;
    this.#transcript = platform.openTranscript?.(matchId, seat);
  }

  /** Adds a message of the match, exactly as received, to the digest and the transcript. */
  record(message: Uint8Array): void {
    const length = this.digest.length + message.length;
    if (this.#hashed.length < length) this.#hashed = new Uint8Array(2 * length);
    this.#hashed.set(this.digest);
    this.#hashed.set(message, this.digest.length);
    this.digest = this.#platform.sha256(this.#hashed.subarray(0, length));
    this.#transcript?.write(message);
  }

  /**
   * Records the commitment and returns the nonce to send. A commitment that is repeated after a
   * reconnection is recorded once, and gets the first nonce again.
   */
  dealCommitted(committed: DealCommitted, message: Uint8Array, nonce: Uint8Array): Uint8Array {
    if (!equal(message, this.#commitmentMessage)) {
      if (this.#commitmentMessage.length > 0) {
        this.#checkCommitment(committed.dealCommitment);
      } else {
        this.#commitment = committed.dealCommitment;
        this.#nonce = nonce;
      }
      this.#commitmentMessage = message;
      this.record(message);
    }
    return this.#nonce;
  }

  /** Checks the commitment and this bot's nonce; also called when the match resumes. */
  matchStarted(started: MatchStarted): void {
    if (this.#commitment.length === 0) this.#commitment = started.dealCommitment;
    this.#checkCommitment(started.dealCommitment);
    this.#sharedDeal = started.sharedDeal;
    if (this.#nonce.length > 0 && !equal(started.nonces[started.seat] ?? NO_BYTES, this.#nonce)) {
      this.#reportViolation("the deal was made without the nonce of this bot");
    }
  }

  /**
   * Checks that the secret opens the commitment, and finishes the transcript. A match with a shared
   * deal may withhold its secret; its replay has it.
   */
  matchEnded(ended: MatchEnded): void {
    const { dealSecret } = ended;
    const withheld = ended.void || (this.#sharedDeal && dealSecret.length === 0);
    const opened = this.#platform.sha256(dealSecret);
    if (!withheld && !equal(opened, this.#commitment)) {
      this.#reportViolation(
        `the secret ${shown(dealSecret)} does not open the commitment ${shown(this.#commitment)}`,
      );
    }
    this.finish();
  }

  /** Closes the transcript of a match that has ended, and writes the digest beside it. */
  finish(): void {
    this.#transcript?.finish(this.digest);
  }

  /** Closes the transcript of a match that has not ended. */
  close(): void {
    this.#transcript?.close();
  }

  #checkCommitment(commitment: Uint8Array): void {
    if (!equal(commitment, this.#commitment)) {
      this.#reportViolation(
        `the commitment ${shown(this.#commitment)} was changed to ${shown(commitment)}`,
      );
    }
  }

  #reportViolation(violation: string): void {
    this.#platform.log(
      `${this.#matchId}: THE DEAL CANNOT BE TRUSTED: ${violation}; keep the transcript and the ` +
        "replay, and inform the organiser",
    );
  }
}

function shown(bytes: Uint8Array): string {
  return hex(bytes) || "(none)";
}
