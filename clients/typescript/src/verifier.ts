/** Checks on the referee: nonces of joint deals, commitment, message digest and transcript. */

import { createHmac, hash, randomBytes } from "node:crypto";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { DealCommitted, MatchEnded, MatchStarted } from "./gen/play_pb.js";
import { log, systemError } from "./log.js";

const NONCE_BYTES = 32;
const NAME_LENGTH = 200; // of a transcript's file name, without seat and extension
const SAFE = /[A-Za-z0-9._+-]/;
const NO_BYTES: Uint8Array = new Uint8Array();

/** Returns 32 random bytes, or bytes derived from seed, match and seat if there is a seed. */
export function makeNonce(seed: string, matchId: string, seat: number): Uint8Array {
  if (seed === "") return randomBytes(NONCE_BYTES);
  return createHmac("sha256", seed).update(`nonce/${matchId}/${seat}`).digest();
}

interface Transcript {
  readonly descriptor: number;
  /** Path without the extension. */
  readonly path: string;
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
  readonly #seat: number;
  #commitment = NO_BYTES;
  #commitmentMessage = NO_BYTES;
  #nonce = NO_BYTES;
  #sharedDeal = false;
  #transcript: Transcript | undefined;

  /** Messages are also written to a new file in `folder`, unless it is empty. */
  constructor(matchId: string, seat: number, folder: string) {
    this.#matchId = matchId;
    this.#seat = seat;
    if (folder !== "") this.#transcript = this.#open(folder);
  }

  /** Adds a message of the match, exactly as received, to the digest and the transcript. */
  record(message: Uint8Array): void {
    this.digest = hash("sha256", Buffer.concat([this.digest, message]), "buffer");
    if (this.#transcript === undefined) return;
    try {
      writeAll(this.#transcript.descriptor, Buffer.concat([varint(message.length), message]));
    } catch (error) {
      this.close();
      this.#reportTranscript(error);
    }
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
    const opened = hash("sha256", dealSecret, "buffer");
    if (!withheld && !equal(opened, this.#commitment)) {
      this.#reportViolation(
        `the secret ${hex(dealSecret)} does not open the commitment ${hex(this.#commitment)}`,
      );
    }
    this.finish();
  }

  /** Closes the transcript of a match that has ended, and writes the digest beside it. */
  finish(): void {
    const path = this.#transcript?.path;
    this.close();
    if (path === undefined) return;
    try {
      writeFileSync(`${path}.digest`, `${Buffer.from(this.digest).toString("hex")}\n`, {
        flag: "wx",
      });
    } catch (error) {
      log(`${this.#matchId}: no digest written: ${systemError(error)}`);
    }
  }

  /** Closes the transcript of a match that has not ended. */
  close(): void {
    const transcript = this.#transcript;
    this.#transcript = undefined;
    if (transcript === undefined) return;
    try {
      closeSync(transcript.descriptor);
    } catch (error) {
      this.#reportTranscript(error);
    }
  }

  #checkCommitment(commitment: Uint8Array): void {
    if (!equal(commitment, this.#commitment)) {
      this.#reportViolation(
        `the commitment ${hex(this.#commitment)} was changed to ${hex(commitment)}`,
      );
    }
  }

  #reportViolation(violation: string): void {
    log(
      `${this.#matchId}: THE DEAL CANNOT BE TRUSTED: ${violation}; keep the transcript and the ` +
        "replay, and inform the organiser",
    );
  }

  /** Creates a transcript under a name that no earlier run has used. */
  #open(folder: string): Transcript | undefined {
    const name = join(folder, `${fileName(this.#matchId)}-seat${this.#seat}`);
    for (let number = 1; ; number++) {
      const path = number === 1 ? name : `${name}-${number}`;
      try {
        return { descriptor: openSync(`${path}.transcript`, "wx"), path };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
          this.#reportTranscript(error);
          return undefined;
        }
      }
    }
  }

  #reportTranscript(error: unknown): void {
    log(`${this.#matchId}: transcript stopped: ${systemError(error)}`);
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(descriptor, bytes, written);
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex") || "(none)";
}

/** Returns a file name that stays inside its folder for any name of a match. */
export function fileName(matchId: string): string {
  let text = "";
  for (const byte of Buffer.from(matchId)) {
    const character = String.fromCharCode(byte);
    text += SAFE.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  if (text.startsWith(".")) text = `%2E${text.slice(1)}`;
  return text.slice(0, NAME_LENGTH);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Uint8Array.from([...bytes, rest]);
}
