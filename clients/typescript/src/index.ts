/**
 * Write a bot for ASARA: a function that chooses one of the legal actions of a decision.
 *
 * ```ts
 * import { run } from "asara";
 *
 * run((decision, match) => match.randomAction(decision));
 * ```
 *
 * `run` connects to the referee named by the environment, plays every match it is assigned and
 * resolves when the referee sends Goodbye. A bot with memory is a subclass of `Bot`. Messages and
 * enums of the protocol are available under their own names: `Decision`, `Area.BANK`; `create`
 * makes messages: `create(ActionSchema, { action: { case: "decline", value: {} } })`.
 *
 * @module
 */

export { create, toJsonString } from "@bufbuild/protobuf";
export {
  type Answer,
  type Awaitable,
  Bot,
  type BotClass,
  type DecideFunction,
  type Match,
} from "./bot.js";
export { play, run } from "./client.js";
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
export type { Options } from "./settings.js";
export { formatAction, parseAction } from "./text.js";
