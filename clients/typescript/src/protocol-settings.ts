/** The settings on which messages to the referee depend. */

import { ConfigurationError } from "./errors.js";

export interface ProtocolSettings {
  /** Secret that identifies the bot to the referee. */
  readonly token: string;
  /** Expected seat, if the bot plays a single match. */
  readonly seat: number | undefined;
  /** Seed of `match.random` and of nonces; empty if there is none. */
  readonly seed: string;
  readonly botName: string;
  /** Maximum number of matches at once. */
  readonly maxMatches: number;
  readonly liveUpdates: boolean;
  readonly omitPublicView: boolean;
}

/** Throws ConfigurationError unless this can be the maximum number of matches at once. */
export function checkMaxMatches(maxMatches: number): void {
  if (!Number.isInteger(maxMatches) || maxMatches < 1) {
    throw new ConfigurationError(`maxMatches is ${maxMatches}: expected 1 or more`);
  }
}
