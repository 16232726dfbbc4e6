/** One stream after another, until the referee sends Goodbye; independent of the transport. */

import { ConfigurationError, ConnectionLostError, RefusedError } from "./errors.js";
import type { ProtocolClient } from "./protocol-client.js";

const FIRST_PAUSE_S = 0.1;
const LONGEST_PAUSE_S = 2;

/** A stream of the play service on a connection of its own. */
export interface Connection {
  /** Sends a request; does nothing if the stream has ended. */
  send(request: Uint8Array): void;
  /**
   * Passes on responses, as received, until the stream ends or `receive` returns false. Returns the
   * reason why the stream broke, or "" if `receive` ended it.
   *
   * @throws {RefusedError} if a new connection would not help.
   */
  run(receive: (response: Uint8Array) => boolean): Promise<string>;
  /** Closes the connection. */
  close(): void;
}

/** How streams are opened, and what else a session needs. */
export interface Transport {
  /** Address of the referee, for messages. */
  readonly address: string;
  /** Seconds to try to reach the referee before giving up. */
  readonly patienceS: number;
  /** Dials. */
  connect(): Connection;
  /** Shows the author of the bot a message of one line. */
  log(message: string): void;
  /** Returns a fault of the settings and its remedy, after a first attempt that failed, or "". */
  diagnose?(): Promise<string>;
  /** Called when the referee has answered on a new stream, and when that stream has broken. */
  connectionChanged?(connected: boolean): void;
}

/** Plays with one protocol client; the matches continue after each break. */
export class Session {
  readonly #protocol: ProtocolClient;
  readonly #transport: Transport;
  #connection: Connection | undefined;
  #closed = false;

  constructor(protocol: ProtocolClient, transport: Transport) {
    this.#protocol = protocol;
    this.#transport = transport;
  }

  /** Resolves after Goodbye, or after `close`. Throws AsaraError. */
  async play(): Promise<void> {
    const { address, patienceS } = this.#transport;
    const protocol = this.#protocol;
    let pauseS = FIRST_PAUSE_S;
    let lastContact = seconds();
    let warned = false;
    let met = false;
    while (!this.#closed) {
      const began = seconds();
      protocol.welcomed = false;
      const detail = await this.#playStream();
      if (protocol.finished) return protocol.idle();
      if (this.#closed) return; // after an error of the author's code
      const now = seconds();
      if (protocol.welcomed) {
        lastContact = now;
        warned = false;
        met = true;
      } else {
        const fault = met ? "" : ((await this.#transport.diagnose?.()) ?? "");
        if (fault !== "") throw new ConfigurationError(fault);
        if (now - lastContact > patienceS) {
          throw new ConnectionLostError(address, patienceS, detail);
        }
      }
      if (!warned) {
        warned = true;
        this.#transport.log(`no connection to ${address} (${detail}); retrying`);
      }
      if (now - began > LONGEST_PAUSE_S) pauseS = FIRST_PAUSE_S;
      await sleep(pauseS * (0.5 + 0.5 * Math.random()) * 1000);
      pauseS = Math.min(2 * pauseS, LONGEST_PAUSE_S);
    }
  }

  /** Ends the stream; `play` resolves. */
  close(): void {
    this.#closed = true;
    this.#connection?.close();
  }

  /** Plays on one stream; returns why it broke, or "" after Goodbye. Throws RefusedError. */
  async #playStream(): Promise<string> {
    const protocol = this.#protocol;
    const connection = this.#transport.connect();
    this.#connection = connection;
    const send = (request: Uint8Array) => connection.send(request);
    let met = false;
    try {
      send(protocol.hello());
      return await connection.run((response) => {
        protocol.handle(response, send);
        if (!met && protocol.welcomed) {
          met = true;
          this.#transport.connectionChanged?.(true);
        }
        return !protocol.finished;
      });
    } finally {
      connection.close();
      if (met) this.#transport.connectionChanged?.(false);
    }
  }
}

// After any other status a new stream would only end in the same way.
const RETRYABLE: ReadonlySet<string> = new Set([
  "CANCELLED",
  "DEADLINE_EXCEEDED",
  "INTERNAL",
  "UNAVAILABLE",
  "UNKNOWN",
]);
// Reasons of other statuses after which a new stream may be accepted a little later.
const RETRYABLE_REASONS: ReadonlySet<string> = new Set(["too-many-streams"]);

/**
 * Returns why a stream broke, from the gRPC status with which it ended.
 *
 * @throws {RefusedError} if a new connection would not help.
 */
export function breakReason(
  address: string,
  status: string,
  reason: string,
  details: string,
): string {
  if (status === "OK") return "closed without a goodbye";
  if (RETRYABLE.has(status) || RETRYABLE_REASONS.has(reason)) return details || status;
  throw new RefusedError(address, status, reason, details);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function seconds(): number {
  return performance.now() / 1000;
}
