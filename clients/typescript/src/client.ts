/** `run` and `play`: connect to the referee, and reconnect whenever the stream breaks. */

import { setTimeout as sleep } from "node:timers/promises";
import { type BotClass, botFactory, type DecideFunction } from "./bot.js";
import { Connection } from "./connection.js";
import { AsaraError, ConfigurationError, ConnectionLostError } from "./errors.js";
import { log } from "./log.js";
import { ProtocolClient } from "./protocol-client.js";
import { completeSettings, type Options, type Settings } from "./settings.js";
import { transportFault } from "./transport.js";

const FIRST_PAUSE_S = 0.1;
const LONGEST_PAUSE_S = 2;

/**
 * Plays until the referee sends Goodbye; the last line of a bot's program.
 *
 * `bot` is a subclass of `Bot`, or a function that takes a decision and its match and returns one or
 * more actions, or a promise of them. Omitted options come from the environment.
 *
 * An AsaraError ends the process with one line on standard error: exit status 2 for a missing or
 * invalid setting, otherwise 1. Errors in the author's code are not caught: Node prints them with
 * their stack and exits with status 1.
 */
export async function run(bot: BotClass | DecideFunction, options: Options = {}): Promise<void> {
  try {
    await play(bot, options);
  } catch (error) {
    if (!(error instanceof AsaraError)) throw error;
    log(error.message);
    process.exit(error.exitStatus);
  }
}

/** Like `run`, for programs that continue afterwards: rejects with AsaraError and never exits. */
export async function play(bot: BotClass | DecideFunction, options: Options = {}): Promise<void> {
  const makeBot = botFactory(bot);
  const settings = completeSettings(options);
  const protocol = new ProtocolClient(makeBot, settings);
  const session = new Session(protocol, settings);
  let waiting = false;
  const noteWaiting = () => {
    waiting = true;
  };
  const reportExit = () => {
    const open = protocol.openMatches;
    if (open.length === 0) return;
    if (waiting) {
      log(`${open.join(", ")}: the bot awaited a promise that nothing could settle any more`);
      return;
    }
    log(
      `process.exit ended the bot in the middle of ${open.join(", ")}, which it forfeits; ` +
        "return an action instead, and `run` ends after the last match",
    );
  };
  const forgetExit = () => process.off("exit", reportExit);
  process.on("beforeExit", noteWaiting); // not emitted by process.exit
  process.on("exit", reportExit);
  process.on("uncaughtExceptionMonitor", forgetExit); // Node reports these errors
  try {
    await Promise.race([session.play(), protocol.failed]);
  } finally {
    forgetExit();
    process.off("uncaughtExceptionMonitor", forgetExit);
    process.off("beforeExit", noteWaiting);
    session.close();
    protocol.close();
  }
}

/** One stream after another, until the referee sends Goodbye. */
class Session {
  readonly #protocol: ProtocolClient;
  readonly #settings: Settings;
  #connection: Connection | undefined;
  #closed = false;

  constructor(protocol: ProtocolClient, settings: Settings) {
    this.#protocol = protocol;
    this.#settings = settings;
  }

  async play(): Promise<void> {
    const { address, ca, patienceS } = this.#settings;
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
        const fault = met ? "" : await transportFault(address, ca !== undefined);
        if (fault !== "") throw new ConfigurationError(fault);
        if (now - lastContact > patienceS) {
          throw new ConnectionLostError(address, patienceS, detail);
        }
      }
      if (!warned) {
        warned = true;
        log(`no connection to ${address} (${detail}); retrying`);
      }
      if (now - began > LONGEST_PAUSE_S) pauseS = FIRST_PAUSE_S;
      await sleep(pauseS * (0.5 + 0.5 * Math.random()) * 1000);
      pauseS = Math.min(2 * pauseS, LONGEST_PAUSE_S);
    }
  }

  close(): void {
    this.#closed = true;
    this.#connection?.close();
  }

  /** Plays on one stream; returns why it broke, or "" after Goodbye. Throws RefusedError. */
  async #playStream(): Promise<string> {
    const { address, ca } = this.#settings;
    const protocol = this.#protocol;
    const connection = new Connection(address, ca);
    this.#connection = connection;
    const send = (request: Uint8Array) => connection.send(request);
    try {
      send(protocol.hello());
      return await connection.run((response) => {
        protocol.handle(response, send);
        return !protocol.finished;
      });
    } finally {
      connection.close();
    }
  }
}

function seconds(): number {
  return performance.now() / 1000;
}
