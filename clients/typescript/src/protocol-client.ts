/** The bot's side of the protocol, independent of any transport: responses in, requests out. */

import { create, isMessage } from "@bufbuild/protobuf";
import { type Answer, type Awaitable, type Bot, Match } from "./bot.js";
import { hex } from "./bytes.js";
import { decodeResponse, encodeRequest } from "./codec.js";
import { BotError, ConfigurationError } from "./errors.js";
import type { Event } from "./gen/event_pb.js";
import {
  type DealCommitted,
  type Decision,
  DecisionKind,
  type Limits,
  LimitsSchema,
  type MatchEnded,
  type MatchStarted,
  type PlayResponse,
  type Rejection,
  RejectionReason,
  type Update,
  type Welcome,
} from "./gen/play_pb.js";
import { ActionSchema } from "./gen/vocabulary_pb.js";
import type { Platform } from "./platform.js";
import { makeNonce, Verifier } from "./verifier.js";

const PROTOCOL_VERSION = 1;
const NAME_BYTES = 64; // of Hello.bot_name
const LONGEST_ANSWER = 80; // characters, in messages

/** The settings on which messages to the referee depend. */
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

/** Sends a serialized PlayRequest on the stream of the response that it answers. */
export type Send = (request: Uint8Array) => void;

/** A running match with its bot. */
interface ActiveMatch {
  readonly bot: Bot;
  readonly verifier: Verifier;
  /** Number of the last event passed to the bot. */
  sequence: bigint;
  /** The last decision asked. */
  decision: Decision | undefined;
  /** The reply to it. */
  reply: Uint8Array;
}

/**
 * Passes responses to the bots of the running matches and sends their requests.
 *
 * One instance serves all streams of a process: matches continue after a reconnection. The messages
 * of one match are processed one after another, those of different matches independently.
 */
export class ProtocolClient {
  /** True once the referee has answered Hello; the transport resets it for every stream. */
  welcomed = false;
  /** True once the referee has sent Goodbye. */
  finished = false;
  /** Rejects with the first error of the author's code or of this class; never resolves. */
  readonly failed: Promise<never>;

  readonly #makeBot: () => Bot;
  readonly #settings: ProtocolSettings;
  readonly #platform: Platform;
  /** Seed of random numbers, which exists even if the settings have none. */
  readonly #seed: string;
  #entry = "";
  #limits: Limits = create(LimitsSchema);
  readonly #matches = new Map<string, ActiveMatch>();
  /** Verifiers of joint deals whose match has not started. */
  readonly #pending = new Map<string, Verifier>();
  /** By match, the end of the work that waits for a promise of the author's code. */
  readonly #queues = new Map<string, Promise<void>>();
  #fail: (error: unknown) => void = () => {};

  constructor(makeBot: () => Bot, settings: ProtocolSettings, platform: Platform) {
    this.#makeBot = makeBot;
    this.#settings = settings;
    this.#platform = platform;
    this.#seed = settings.seed || hex(platform.randomBytes(16));
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {}); // may be rejected before anyone waits for it
  }

  /** Returns the first request of a stream. */
  hello(): Uint8Array {
    const { token, botName, maxMatches, liveUpdates, omitPublicView } = this.#settings;
    const lastEvents = [...this.#matches].map(([matchId, { sequence }]) => ({ matchId, sequence }));
    return encodeRequest({
      case: "hello",
      value: {
        protocolVersion: PROTOCOL_VERSION,
        token,
        botName: truncate(botName, NAME_BYTES),
        language: this.#platform.language,
        maxMatches,
        liveUpdates,
        omitPublicView,
        lastEvents,
      },
    });
  }

  /** Processes one serialized PlayResponse; errors reject `failed`. */
  handle(message: Uint8Array, send: Send): void {
    try {
      const response = decodeResponse(message);
      switch (response.case) {
        case "welcome":
          this.#handleWelcome(response.value);
          break;
        case "goodbye":
          this.finished = true;
          break;
        case undefined: // a kind of message that this version does not know
          break;
        default:
          this.#enqueue(response.value.matchId, () => this.#process(response, message, send));
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Resolves when the author's code has finished with all messages so far. */
  async idle(): Promise<void> {
    while (this.#queues.size > 0) await Promise.all(this.#queues.values());
  }

  /** Names of the matches that have begun and not ended. */
  get openMatches(): string[] {
    return [...this.#matches.keys()];
  }

  /** Closes the transcripts of all matches that have not ended. */
  close(): void {
    for (const verifier of this.#pending.values()) verifier.close();
    for (const { verifier } of this.#matches.values()) verifier.close();
  }

  /** Runs a task at once or, if earlier ones of the match still wait for a promise, after them. */
  #enqueue(matchId: string, task: () => Awaitable<void>): void {
    const before = this.#queues.get(matchId);
    const work = before === undefined ? task() : before.then(task);
    if (!isPromise(work)) return;
    const settled = Promise.resolve(work)
      .catch(this.#fail)
      .then(() => {
        if (this.#queues.get(matchId) === settled) this.#queues.delete(matchId);
      });
    this.#queues.set(matchId, settled);
  }

  #process(response: PlayResponse["response"], message: Uint8Array, send: Send): Awaitable<void> {
    switch (response.case) {
      case "decision":
        return this.#decide(response.value, message, send);
      case "update":
        return this.#update(response.value, message);
      case "matchStarted":
        return this.#startMatch(response.value, message);
      case "matchEnded":
        return this.#endMatch(response.value, message);
      case "rejection":
        return this.#handleRejection(response.value, message, send);
      case "dealCommitted":
        return this.#sendNonce(response.value, message, send);
    }
  }

  #handleWelcome({ entry, limits }: Welcome): void {
    this.#entry = entry;
    if (limits !== undefined) this.#limits = limits;
    this.welcomed = true;
  }

  #sendNonce(committed: DealCommitted, message: Uint8Array, send: Send): void {
    const { matchId, seat } = committed;
    if (this.#matches.has(matchId)) {
      this.#platform.log(`${matchId}: nonce requested after the match started`);
      return;
    }
    const platform = this.#platform;
    const verifier = this.#pending.get(matchId) ?? new Verifier(matchId, seat, platform);
    this.#pending.set(matchId, verifier);
    const fresh = makeNonce(platform, this.#settings.seed, matchId, seat);
    const nonce = verifier.dealCommitted(committed, message, fresh);
    send(encodeRequest({ case: "nonce", value: { matchId, nonce } }));
  }

  #startMatch(started: MatchStarted, message: Uint8Array): Awaitable<void> {
    const { matchId, seat } = started;
    const active = this.#matches.get(matchId);
    const platform = this.#platform;
    const verifier =
      active?.verifier ?? this.#pending.get(matchId) ?? new Verifier(matchId, seat, platform);
    this.#pending.delete(matchId);
    verifier.record(message);
    verifier.matchStarted(started);
    if (active !== undefined) return; // resumed after a reconnection, which the bot need not notice
    const expected = this.#settings.seat;
    if (expected !== undefined && expected !== seat) {
      this.#platform.log(`${matchId}: seat ${seat}, expected seat ${expected}`);
    }
    const bot = this.#makeBot();
    bot.match = new Match(started, this.#entry, this.#limits, this.#seed, verifier, platform);
    const { sequence } = started;
    const reply = new Uint8Array();
    this.#matches.set(matchId, { bot, verifier, sequence, decision: undefined, reply });
    return bot.started();
  }

  #update(update: Update, message: Uint8Array): Awaitable<void> {
    const active = this.#matches.get(update.matchId);
    if (active === undefined) return;
    active.verifier.record(message);
    return deliverEvents(active, update);
  }

  #endMatch(ended: MatchEnded, message: Uint8Array): Awaitable<void> {
    const { matchId } = ended;
    const pending = this.#pending.get(matchId);
    this.#pending.delete(matchId);
    if (pending !== undefined) {
      // cancelled before it started
      pending.record(message);
      pending.finish();
    }
    const active = this.#matches.get(matchId);
    this.#matches.delete(matchId);
    if (active === undefined) return;
    active.verifier.record(message);
    active.verifier.matchEnded(ended);
    return then(deliverEvents(active, ended), () => active.bot.ended(ended));
  }

  #decide(decision: Decision, message: Uint8Array, send: Send): Awaitable<void> {
    const { matchId, decisionId } = decision;
    const active = this.#matches.get(matchId);
    if (active === undefined) {
      this.#platform.log(`${matchId}: decision for an unknown match`);
      return;
    }
    active.verifier.record(message);
    return then(deliverEvents(active, decision), () => {
      if (active.decision?.decisionId === decisionId) {
        send(active.reply); // a decision repeated after a reconnection gets the same reply
        return;
      }
      active.decision = decision;
      return then(decide(active.bot, decision), (answer) => {
        active.reply = encodeReply(decision, "decide", answer);
        send(active.reply);
      });
    });
  }

  #handleRejection(rejection: Rejection, message: Uint8Array, send: Send): Awaitable<void> {
    const { matchId, decisionId, forgiven } = rejection;
    const active = this.#matches.get(matchId);
    active?.verifier.record(message);
    const decision = active?.decision;
    if (active === undefined || decision?.decisionId !== decisionId) return;
    const reason = RejectionReason[rejection.reason];
    this.#platform.log(
      `the reply to decision ${decisionId} of ${matchId} was rejected ` +
        `(${rejection.detail || (reason ? `REJECTION_REASON_${reason}` : rejection.reason)}); ` +
        `${forgiveness(forgiven)}; return one of decision.legalActions as it is`,
    );
    if (rejection.legalActions.length === 0) return; // the decision is no longer open
    return then(active.bot.rejected(decision, rejection), (answer) => {
      active.reply = encodeReply(decision, "rejected", answer);
      send(active.reply);
    });
  }
}

/** Calls `decide`; the stack of an error that it throws ends with the error and the decision. */
function decide(bot: Bot, decision: Decision): Awaitable<Answer> {
  const report = (error: unknown): never => {
    if (error instanceof Error && Object.isExtensible(error)) {
      const innermost = error.stack?.match(/\n\s*( at .+)/)?.[1] ?? "";
      error.stack = `${error.stack}\n${error}\nin ${decisionText(decision)}${innermost}`;
    }
    throw error;
  };
  try {
    const answer = bot.decide(decision);
    return isPromise(answer) ? Promise.resolve(answer).catch(report) : answer;
  } catch (error) {
    return report(error);
  }
}

/** Returns a decision in words, for messages: its number, match and kind. */
export function decisionText({ decisionId, matchId, kind }: Decision): string {
  const name = DecisionKind[kind]?.toLowerCase().replaceAll("_", " ") ?? kind;
  return `${matchId}, decision ${decisionId} (${name})`;
}

/** Passes on the events that are new to the bot; a reconnection may repeat some. */
function deliverEvents(
  active: ActiveMatch,
  { events, sequence }: { events: readonly Event[]; sequence: bigint },
): Awaitable<void> {
  const fresh = Number(sequence - active.sequence);
  if (events.length === 0 || fresh <= 0) return;
  active.sequence = sequence;
  return active.bot.updated(fresh >= events.length ? events : events.slice(-fresh));
}

/** Returns the reply with the answer of a method. Throws BotError if it is no answer. */
function encodeReply(decision: Decision, method: string, answer: Answer): Uint8Array {
  const { matchId, decisionId } = decision;
  const actions = Array.isArray(answer) ? answer : [answer];
  if (actions.length === 0 || !actions.every((action) => isMessage(action, ActionSchema))) {
    throw new BotError(
      `${method} returned ${described(answer)} for decision ${decisionId} of ${matchId}; ` +
        remedy(answer),
    );
  }
  try {
    return encodeRequest({ case: "reply", value: { matchId, decisionId, actions } });
  } catch (error) {
    throw new BotError(
      `${method} returned an action that cannot be sent for decision ${decisionId} of ` +
        `${matchId}: ${text(error)}`,
    );
  }
}

/** Returns the consequence of further rejections if `more` are forgiven in the match. */
function forgiveness(more: number): string {
  if (more === 0) return "the next rejection forfeits the match";
  return `${more} more ${more === 1 ? "is" : "are"} forgiven in this match`;
}

function described(answer: unknown): string {
  if (Array.isArray(answer)) {
    const wrong: unknown = answer.find((each) => !isMessage(each, ActionSchema));
    return answer.length === 0 ? "an empty list" : `a list with ${described(wrong)}`;
  }
  if (isMessage(answer)) return `a message of type ${answer.$typeName.replace(/.*\./, "")}`;
  if (typeof answer === "object" && answer !== null) return "an object that is no action";
  const shown = text(answer);
  return shown.length <= LONGEST_ANSWER ? shown : `${shown.slice(0, LONGEST_ANSWER)}…`;
}

/** Returns the answer to return instead of one that is none. */
function remedy(answer: unknown): string {
  if (typeof answer === "number") {
    return `return the action itself: decision.legalActions[${answer}]`;
  }
  return "return one of decision.legalActions, or a list that begins with one";
}

function text(value: unknown): string {
  const words = value instanceof Error ? value.message : String(value);
  return words.trim().split(/\s+/).join(" ");
}

/** Returns the text, cut off at a whole character so that it takes at most `bytes` in UTF-8. */
function truncate(name: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(name, new Uint8Array(bytes));
  return name.slice(0, read);
}

function isPromise<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | undefined)?.then === "function";
}

/** Calls `next` with a value: at once, so that a synchronous bot costs no turn of the event loop. */
function then<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPromise(value) ? value.then(next) : next(value);
}
