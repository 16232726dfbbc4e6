/** The WebSocket of a seat: connects, and connects again when it breaks. */

import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type PlayRequest,
  PlayRequestSchema,
  type PlayResponse,
  PlayResponseSchema,
} from "asara/gen/play_pb.js";
import { socketUrl } from "../match/sockets.js";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const FIRST_STATUS = 4_000; // close code of gRPC status 0
/** gRPC statuses after which a new connection may help. */
const RETRYABLE: ReadonlySet<number> = new Set([1, 2, 4, 8, 13, 14]);

/** How a connection ended for good. */
export interface Ending {
  /** The reason for programs, such as `replaced`; empty for an ordinary end. */
  readonly reason: string;
  /** Text of the referee, in English. */
  readonly detail: string;
}

export interface ConnectionHandler {
  /** Returns the first request of a connection. */
  hello(): PlayRequest;
  received(response: PlayResponse): void;
  /** Called when a connection works, and when one broke; it is tried again. */
  connected(now: boolean): void;
  ended(ending: Ending): void;
}

/** Returns the ending that a close code means; undefined if a new connection may help. */
export function endingOf(code: number, text: string): Ending | undefined {
  const status = code - FIRST_STATUS;
  if (status < 0 || status > 16) return undefined;
  const [, reason = "", detail = text] = /^([a-z-]+): (.*)$/s.exec(text) ?? [];
  if (reason !== "stopping" && RETRYABLE.has(status)) return undefined;
  return { reason, detail };
}

/** A connection that is kept open until `close`, or until the referee ends it. */
export class Connection {
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause = FIRST_PAUSE_MS;
  #closed = false;

  constructor(private readonly handler: ConnectionHandler) {
    this.#connect();
  }

  /** Sends a request; without a connection it is lost, and the referee asks again. */
  send(request: PlayRequest): void {
    if (this.#socket?.readyState === WebSocket.OPEN) {
      this.#socket.send(toBinary(PlayRequestSchema, request));
    }
  }

  /** Ends the connection; nothing is called any more afterwards. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close(1000);
  }

  #connect(): void {
    const socket = new WebSocket(socketUrl("/ws/play"));
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.send(this.handler.hello());
    socket.onmessage = ({ data }) => {
      if (this.#closed || !(data instanceof ArrayBuffer)) return;
      this.#pause = FIRST_PAUSE_MS;
      const response = fromBinary(PlayResponseSchema, new Uint8Array(data));
      if (response.response.case === "welcome") this.handler.connected(true);
      this.handler.received(response);
    };
    socket.onclose = ({ code, reason }) => {
      if (this.#closed) return;
      const ending = endingOf(code, reason);
      if (ending !== undefined) {
        this.#closed = true;
        this.handler.ended(ending);
        return;
      }
      this.handler.connected(false);
      this.#timer = setTimeout(() => this.#connect(), this.#pause * (0.5 + Math.random() / 2));
      this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE_MS);
    };
  }
}
