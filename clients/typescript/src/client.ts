/** `run` and `play`: connect to the referee, and reconnect whenever the stream breaks. */

import { type BotClass, botFactory, type DecideFunction } from "./bot.js";
import { GrpcConnection } from "./connection.js";
import { AsaraError } from "./errors.js";
import { log } from "./log.js";
import { nodePlatform } from "./node-platform.js";
import { ProtocolClient } from "./protocol-client.js";
import { Session } from "./session.js";
import { completeSettings, type Options } from "./settings.js";
import { transportFault } from "./transport.js";

/**
 * Plays until the referee sends Goodbye; the last line of a bot's program.
 *
 * `bot` is a subclass of `Bot`, or a function that takes a decision and its match and returns one or
 * more actions, or a promise of them. Omitted options come from the environment.
 *
 * An AsaraError ends the process with one line on standard error: exit status 2 for a missing or
 * invalid setting, otherwise 1. An error in the author's code ends it with its stack and status 1.
 */
export async function run(bot: BotClass | DecideFunction, options: Options = {}): Promise<void> {
  try {
    await play(bot, options);
  } catch (error) {
    if (error instanceof AsaraError) log(error.message);
    else reportThrown(error);
    process.exit(error instanceof AsaraError ? error.exitStatus : 1);
  }
}

/** Prints an error of the author's code. The error and where it happened are the last lines. */
function reportThrown(error: unknown): void {
  const stack = error instanceof Error ? `${error.stack}` : "";
  console.error(stack.includes(`\n${error}\n`) ? stack : `${stack}\n${error}`);
}

/** Like `run`, for programs that continue afterwards: rejects with AsaraError and never exits. */
export async function play(bot: BotClass | DecideFunction, options: Options = {}): Promise<void> {
  const makeBot = botFactory(bot);
  const settings = completeSettings(options);
  const { address, ca, patienceS, transcript } = settings;
  const protocol = new ProtocolClient(makeBot, settings, nodePlatform(transcript));
  const session = new Session(protocol, {
    address,
    patienceS,
    connect: () => new GrpcConnection(address, ca),
    log,
    diagnose: () => transportFault(address, ca !== undefined),
  });
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
