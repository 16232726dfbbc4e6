/** What the core needs of the system on which it runs. */
export interface Platform {
  /** Programming language and runtime, for the referee's logs. */
  readonly language: string;
  /** Returns the SHA-256 of bytes, or of a text in UTF-8. */
  sha256(data: Uint8Array | string): Uint8Array;
  /** Returns the HMAC-SHA256 of the message. */
  hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array;
  /** Returns unpredictable bytes. */
  randomBytes(count: number): Uint8Array;
  /** Shows the author of the bot a message of one line. */
  log(message: string): void;
  /** Opens the transcript of a match; undefined if none is kept. */
  openTranscript?(matchId: string, seat: number): Transcript | undefined;
}

/** All messages of a match to a seat, as received. Failures are reported, and never thrown. */
export interface Transcript {
  /** Adds a message. */
  write(message: Uint8Array): void;
  /** Adds the final digest, and closes the transcript. */
  finish(digest: Uint8Array): void;
  /** Closes the transcript of a match that has not ended. */
  close(): void;
}
