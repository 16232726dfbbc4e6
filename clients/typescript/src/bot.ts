/** The interface of a bot: a subclass of `Bot`, or a function for a bot without memory. */

import { BotError } from "./errors.js";
import type { Event } from "./gen/event_pb.js";
import type {
  Clocks,
  Decision,
  Limits,
  MatchEnded,
  MatchStarted,
  Rejection,
} from "./gen/play_pb.js";
import type { View } from "./gen/view_pb.js";
import type { Action, Edition, RuleSet } from "./gen/vocabulary_pb.js";
import type { Platform } from "./platform.js";
import { randomIndex, seededRandom } from "./random.js";
import type { Verifier } from "./verifier.js";

/** One of `decision.legalActions`, or several actions in order, up to the end of the turn. */
export type Answer = Action | readonly Action[];

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

/** A match, from the seat of one bot. */
export class Match {
  /** The message MatchStarted, which also has the commitment to the deal, and `resumed`. */
  readonly started: MatchStarted;
  /** Rule sets of the match, such as `RuleSet.GIFTS`. */
  readonly ruleSets: ReadonlySet<RuleSet>;
  /** Name of this bot's entry in the match or tournament. */
  readonly entry: string;
  /** Limits that the referee enforces. */
  readonly limits: Limits;
  /**
   * Returns a number from 0 to below 1, like Math.random; the numbers depend on ASARA_SEED, the
   * match and the seat alone.
   */
  readonly random: () => number;
  readonly #platform: Platform;
  readonly #seed: string;
  readonly #verifier: Verifier;

  /** @internal */
  constructor(
    started: MatchStarted,
    entry: string,
    limits: Limits,
    seed: string,
    verifier: Verifier,
    platform: Platform,
  ) {
    this.started = started;
    this.ruleSets = new Set(started.ruleSets);
    this.entry = entry;
    this.limits = limits;
    this.random = seededRandom(platform, `${seed}/${started.matchId}/${started.seat}`);
    this.#platform = platform;
    this.#seed = seed;
    this.#verifier = verifier;
  }

  /** Name of the match. */
  get matchId(): string {
    return this.started.matchId;
  }

  /** This bot's seat, 0 to `seats` - 1. */
  get seat(): number {
    return this.started.seat;
  }

  /** Number of seats. */
  get seats(): number {
    return this.started.seats;
  }

  /** Prices, spaces, tile counts and awards, which may differ between editions. */
  get edition(): Edition {
    return this.started.edition as Edition;
  }

  /** Time limits in microseconds. */
  get clocks(): Clocks {
    return this.started.clocks as Clocks;
  }

  /** View of the seat when the match started; each decision carries a newer one. */
  get view(): View {
    return this.started.view as View;
  }

  /**
   * SHA-256 digest of the messages of the match received so far, 32 bytes. At the end it equals the
   * digest of this seat in the replay, unless messages were lost when the stream broke.
   */
  get digest(): Uint8Array {
    return this.#verifier.digest;
  }

  /**
   * Returns a legal action, chosen by the rule that all random bots share: it depends on ASARA_SEED,
   * the match, the seat and the number of the decision alone.
   */
  randomAction(decision: Decision): Action {
    const { decisionId, legalActions } = decision;
    const count = legalActions.length;
    const { matchId, seat } = this;
    const index = randomIndex(this.#platform, this.#seed, matchId, seat, decisionId, count);
    return legalActions[index] as Action;
  }
}

/**
 * Plays one seat of one match; every match gets its own instance.
 *
 * Instances are created without arguments. `match` is set after the constructor and before
 * `started`. All methods may be asynchronous, and the methods of one match are called one at a time:
 * the next one waits for the promise of the one before.
 */
export abstract class Bot {
  declare match: Match;

  /**
   * Returns one of `decision.legalActions`, or a list that begins with one.
   *
   * Further actions are applied in order while each is legal. The first illegal one ends the list
   * without penalty, and the next decision is asked as usual. Called once per decision.
   */
  abstract decide(decision: Decision): Awaitable<Answer>;

  /** Called when the match starts, or resumes in a new process (`match.started.resumed`). */
  started(): Awaitable<void> {}

  /**
   * Called with new events, each once and in order, before the decision that follows them.
   *
   * Events arrive with decisions and the result or, with `liveUpdates`, after every turn.
   */
  updated(_events: readonly Event[]): Awaitable<void> {}

  /**
   * Returns another answer after the referee rejected one; only a few are forgiven per match. The
   * default is the first legal action.
   */
  rejected(_decision: Decision, rejection: Rejection): Awaitable<Answer> {
    return rejection.legalActions[0] as Action;
  }

  /** Called with the result; `result.results` has one entry per seat, in seat order. */
  ended(_result: MatchEnded): Awaitable<void> {}
}

/** A bot without memory: a function that takes a decision and its match. */
export type DecideFunction = (decision: Decision, match: Match) => Awaitable<Answer>;

/** A subclass of `Bot` whose constructor takes no arguments. */
export type BotClass = new () => Bot;

class FunctionBot extends Bot {
  readonly #decide: DecideFunction;

  constructor(decide: DecideFunction) {
    super();
    this.#decide = decide;
  }

  override decide(decision: Decision): Awaitable<Answer> {
    return this.#decide(decision, this.match);
  }
}

/**
 * Returns a function that creates one bot per match.
 *
 * @throws {BotError} if `bot` is unsuitable for `run`; JavaScript can pass anything.
 */
export function botFactory(bot: BotClass | DecideFunction): () => Bot {
  if (isClass(bot)) {
    if (!(bot.prototype instanceof Bot)) {
      throw new BotError(
        `${bot.name} must be a subclass of Bot: \`class ${bot.name} extends Bot\``,
      );
    }
    if (typeof bot.prototype.decide !== "function") {
      throw new BotError(`${bot.name} needs a method: decide(decision)`);
    }
    return () => new bot();
  }
  if (typeof bot !== "function") throw new BotError(misfit(bot));
  return () => new FunctionBot(bot);
}

function isClass(bot: unknown): bot is BotClass {
  return typeof bot === "function" && /^class\b/.test(Function.prototype.toString.call(bot));
}

function misfit(bot: unknown): string {
  if (bot instanceof Bot) {
    const { name } = bot.constructor;
    return `pass the class ${name}, not an instance: every match gets its own`;
  }
  return (
    `run expects a subclass of Bot or a function, not ${typeof bot}; ` +
    "write `run(decide)`, without `()` after the name"
  );
}
