/** The connection of a seat: PlayRequests to the referee, and PlayResponses from it. */

import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type PlayRequest,
  PlayRequestSchema,
  type PlayResponse,
  PlayResponseSchema,
} from "asara/gen/play_pb.js";
import { type Ending, ReconnectingSocket } from "../match/reconnecting-socket.js";

const NOT_FOUND = 5; // gRPC status

interface ConnectionHandler {
  /** Returns the first request of a connection. */
  hello(): PlayRequest;
  received(response: PlayResponse): void;
  /** Called when a connection works, and when one broke; it is tried again. */
  connected(now: boolean): void;
  /** Called when the referee has ended the connection for good. */
  ended(ending: Ending): void;
}

/** Returns true if another connection may bring the seat back to the table. */
export function mayReturn({ reason, retryable }: Ending): boolean {
  return retryable && reason !== "stopping";
}

/** Returns true if the table is closed, or the server has none. */
export function isClosed({ status, reason, detail }: Ending): boolean {
  return status === NOT_FOUND || reason === "stopping" || detail === "";
}

/** A connection that is kept open until `close`, or until the referee ends it. */
export class Connection {
  readonly #socket: ReconnectingSocket;

  constructor(handler: ConnectionHandler) {
    this.#socket = new ReconnectingSocket("/ws/play", {
      hello: () => toBinary(PlayRequestSchema, handler.hello()),
      received: (message) => {
        const response = fromBinary(PlayResponseSchema, message);
        if (response.response.case === "welcome") handler.connected(true);
        handler.received(response);
      },
      ended: (ending) => {
        if (mayReturn(ending)) return "again";
        handler.ended(ending);
        return "over";
      },
      broke: () => handler.connected(false),
    });
  }

  /** Sends a request; without a connection it is lost, and the referee asks again. */
  send(request: PlayRequest): void {
    this.#socket.send(toBinary(PlayRequestSchema, request));
  }

  close(): void {
    this.#socket.close();
  }
}
