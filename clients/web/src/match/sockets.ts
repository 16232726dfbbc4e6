/** WebSockets of the page's own server. */

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { WatchRequestSchema, WatchResponseSchema } from "asara/gen/watch_pb.js";
import { MatchError } from "./errors.js";
import type { MatchRecord } from "./model.js";
import { LiveMatch } from "./timeline.js";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const FIRST_STATUS = 4_000; // close code of gRPC status 0
const NOT_FOUND = 5;
/** gRPC statuses after which a new connection may help. */
const RETRYABLE: ReadonlySet<number> = new Set([1, 2, 4, 8, 13, 14]);

/** Returns the address of a socket of the page's own server. */
export function socketUrl(path: string): string {
  const url = new URL(path, location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  return url.href;
}

/** What `watchMatch` calls. */
export interface Watcher {
  /** Called with every new record of the match. */
  grown(record: MatchRecord): void;
  /** Called with true when the first message of a connection came, with false when it broke. */
  connectionChanged?(connected: boolean): void;
  /** Called once if the match cannot be watched; the text is one sentence for people. */
  failed(reason: string): void;
}

/**
 * Watches a match to its end; after each break it goes on where it was.
 *
 * Returns a function that ends the watching; nothing is called any more afterwards.
 */
export function watchMatch(run: string, matchId: string, watcher: Watcher): () => void {
  const url = socketUrl(`/ws/watch?run=${encodeURIComponent(run)}`);
  const live = new LiveMatch();
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pause = FIRST_PAUSE_MS;
  let ended = false;

  const stop = () => {
    ended = true;
    clearTimeout(timer);
    socket?.close();
  };
  const fail = (reason: string) => {
    if (ended) return;
    stop();
    watcher.failed(reason);
  };
  const receive = (data: unknown) => {
    if (!(data instanceof ArrayBuffer)) throw new MatchError("The server sent no message.");
    const before = live.record;
    const record = live.receive(fromBinary(WatchResponseSchema, new Uint8Array(data)));
    if (record !== undefined && record !== before) watcher.grown(record);
    if (live.over) stop();
  };
  const connect = () => {
    const own = new WebSocket(url);
    let met = false;
    socket = own;
    own.binaryType = "arraybuffer";
    own.onopen = () => {
      const request = { matchId, afterSequence: BigInt(live.sequence) };
      own.send(toBinary(WatchRequestSchema, create(WatchRequestSchema, request)));
    };
    own.onmessage = ({ data }) => {
      if (ended) return;
      if (!met) {
        met = true;
        pause = FIRST_PAUSE_MS;
        watcher.connectionChanged?.(true);
      }
      try {
        receive(data);
      } catch (error) {
        const known = error instanceof MatchError;
        fail(known ? error.message : "The server sent a message that cannot be read.");
      }
    };
    own.onclose = ({ code, reason }) => {
      if (ended) return;
      if (met) watcher.connectionChanged?.(false);
      const status = code - FIRST_STATUS;
      // A match that has ended can be watched again when its replay is published.
      const awaited = status === NOT_FOUND && live.record !== undefined;
      if (awaited) pause = LONGEST_PAUSE_MS;
      if (status > 0 && status <= 16 && !RETRYABLE.has(status) && !awaited) {
        fail(reason.replace(/^[a-z-]+: /, "") || "The match cannot be watched.");
        return;
      }
      timer = setTimeout(connect, pause * (0.5 + 0.5 * Math.random()));
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    };
  };
  connect();
  return stop;
}
