/** Plays over a WebSocket, which carries the messages of the play service one to one. */

import { type BotClass, botFactory, type DecideFunction } from "./bot.js";
import type { Platform } from "./platform.js";
import { checkMaxMatches, ProtocolClient } from "./protocol-client.js";
import { breakReason, type Connection, Session } from "./session.js";

const DEFAULT_PATIENCE_S = 30;
const FIRST_STATUS = 4_000; // close code of gRPC status 0
const STATUSES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

/** The options of `playSocket`. */
export interface SocketOptions {
  /** Address of the play socket, such as `ws://127.0.0.1:8080/ws/play`. */
  url: string;
  /** Secret that identifies this bot to the referee; never logged. */
  token: string;
  /** Expected seat, if only a single match is played. */
  seat?: number | undefined;
  /** Seed of `match.random` and of nonces; without one every run differs. */
  seed?: number | string | undefined;
  /** Name and version of the program, for the referee's logs; truncated to 64 bytes. */
  botName?: string | undefined;
  /** Maximum number of matches played at once; default 1. */
  maxMatches?: number | undefined;
  /** True to receive events after every turn instead of with the next decision. */
  liveUpdates?: boolean | undefined;
  /** True to omit `view.publicView` from decisions, for bots that follow the events. */
  omitPublicView?: boolean | undefined;
  /** Seconds to try to reach the referee before giving up; default 30. */
  patienceS?: number | undefined;
  /** Ends the play when it is aborted; the referee then waits for the bot, and it forfeits. */
  signal?: AbortSignal | undefined;
  /** Called with true when the referee has answered, and with false when a connection broke. */
  connectionChanged?: ((connected: boolean) => void) | undefined;
}

/**
 * Plays until the referee sends Goodbye or `options.signal` is aborted; reconnects whenever the
 * socket breaks.
 *
 * Rejects with AsaraError, or with the first error of the bot.
 */
export async function playSocket(
  bot: BotClass | DecideFunction,
  options: SocketOptions,
  platform: Platform,
): Promise<void> {
  const { url, token, seat, signal, connectionChanged } = options;
  const maxMatches = options.maxMatches ?? 1;
  checkMaxMatches(maxMatches);
  const settings = {
    token,
    seat,
    seed: String(options.seed ?? ""),
    botName: options.botName ?? "",
    maxMatches,
    liveUpdates: options.liveUpdates ?? false,
    omitPublicView: options.omitPublicView ?? false,
  };
  const protocol = new ProtocolClient(botFactory(bot), settings, platform);
  const session = new Session(protocol, {
    address: url,
    patienceS: options.patienceS ?? DEFAULT_PATIENCE_S,
    connect: () => new SocketConnection(url),
    log: (message) => platform.log(message),
    connectionChanged: (connected) => connectionChanged?.(connected),
  });
  const close = () => session.close();
  signal?.addEventListener("abort", close);
  try {
    if (!signal?.aborted) await Promise.race([session.play(), protocol.failed]);
  } finally {
    signal?.removeEventListener("abort", close);
    session.close();
    protocol.close();
  }
}

interface Close {
  readonly code: number;
  readonly reason: string;
}

class SocketConnection implements Connection {
  readonly #url: string;
  readonly #socket: WebSocket;
  /** Requests that wait for the socket to open. */
  #waiting: Uint8Array[] = [];
  #closed = false;

  constructor(url: string) {
    this.#url = url;
    this.#socket = new WebSocket(url);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.addEventListener("open", () => {
      for (const request of this.#waiting) this.#socket.send(request as Uint8Array<ArrayBuffer>);
      this.#waiting = [];
    });
  }

  send(request: Uint8Array): void {
    if (this.#closed) return;
    if (this.#socket.readyState === WebSocket.CONNECTING) this.#waiting.push(request);
    else this.#socket.send(request as Uint8Array<ArrayBuffer>);
  }

  async run(receive: (response: Uint8Array) => boolean): Promise<string> {
    const end = await new Promise<Close | undefined>((resolve) => {
      this.#socket.addEventListener("message", ({ data }: { data: unknown }) => {
        if (this.#closed || !(data instanceof ArrayBuffer)) return;
        if (!receive(new Uint8Array(data))) resolve(undefined);
      });
      this.#socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason }));
    });
    this.#closed = true;
    return end === undefined ? "" : this.#breakReason(end);
  }

  close(): void {
    this.#closed = true;
    this.#socket.close();
  }

  /** The reason of a close has the form `asara-reason: detail`, or is the detail alone. */
  #breakReason({ code, reason: text }: Close): string {
    const status = STATUSES[code - FIRST_STATUS] ?? "UNAVAILABLE";
    const [, reason = "", detail = text] = /^([a-z-]*): (.*)$/s.exec(text) ?? [];
    return breakReason(this.#url, status, reason, detail || `the socket closed with code ${code}`);
  }
}
