/** Transcripts as files. */

import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { log, systemError } from "./log.js";
import type { Transcript } from "./platform.js";

const NAME_LENGTH = 200; // of a transcript's file name, without seat and extension
const SAFE = /[A-Za-z0-9._+-]/;

/** Creates a transcript under a name that no earlier run has used; reports a failure. */
export function openTranscript(
  folder: string,
  matchId: string,
  seat: number,
): Transcript | undefined {
  const name = join(folder, `${fileName(matchId)}-seat${seat}`);
  for (let number = 1; ; number++) {
    const path = number === 1 ? name : `${name}-${number}`;
    try {
      return new TranscriptFile(matchId, path, openSync(`${path}.transcript`, "wx"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
        reportFailure(matchId, error);
        return undefined;
      }
    }
  }
}

class TranscriptFile implements Transcript {
  readonly #matchId: string;
  /** Path without the extension. */
  readonly #path: string;
  /** Undefined once the file is closed. */
  #descriptor: number | undefined;

  constructor(matchId: string, path: string, descriptor: number) {
    this.#matchId = matchId;
    this.#path = path;
    this.#descriptor = descriptor;
  }

  write(message: Uint8Array): void {
    if (this.#descriptor === undefined) return;
    try {
      writeAll(this.#descriptor, Buffer.concat([varint(message.length), message]));
    } catch (error) {
      this.close();
      reportFailure(this.#matchId, error);
    }
  }

  finish(digest: Uint8Array): void {
    if (this.#descriptor === undefined) return;
    this.close();
    try {
      writeFileSync(`${this.#path}.digest`, `${Buffer.from(digest).toString("hex")}\n`, {
        flag: "wx",
      });
    } catch (error) {
      log(`${this.#matchId}: no digest written: ${systemError(error)}`);
    }
  }

  close(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor === undefined) return;
    try {
      closeSync(descriptor);
    } catch (error) {
      reportFailure(this.#matchId, error);
    }
  }
}

function reportFailure(matchId: string, error: unknown): void {
  log(`${matchId}: transcript stopped: ${systemError(error)}`);
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(descriptor, bytes, written);
  }
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
