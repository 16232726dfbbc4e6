/**
 * The part of this package that runs everywhere, browsers included: it needs no Node.js, no gRPC and
 * no file system.
 *
 * `playSocket` plays over a WebSocket. `ProtocolClient` is the protocol without any transport, and
 * `Session` connects it to one of your own. Both need a `Platform`, with the few functions that no
 * language standard has.
 *
 * @module
 */

export { create, toJsonString } from "@bufbuild/protobuf";
export {
  type Answer,
  type Awaitable,
  Bot,
  type BotClass,
  botFactory,
  type DecideFunction,
  type Match,
} from "./bot.js";
export { decodeResponse, encodeRequest } from "./codec.js";
export {
  AsaraError,
  BotError,
  ConfigurationError,
  ConnectionLostError,
  RefusedError,
} from "./errors.js";
export * from "./gen/event_pb.js";
export * from "./gen/play_pb.js";
export * from "./gen/view_pb.js";
export * from "./gen/vocabulary_pb.js";
export type { Platform, Transcript } from "./platform.js";
export { ProtocolClient, type ProtocolSettings, type Send } from "./protocol-client.js";
export { type Connection, Session, type Transport } from "./session.js";
export { formatAction, parseAction } from "./text.js";
export { playSocket, type SocketOptions } from "./web-socket.js";
