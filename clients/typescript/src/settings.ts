/** Settings of a bot: the options of its author, completed from the environment. */

import { X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { ConfigurationError } from "./errors.js";
import { systemError } from "./log.js";
import { checkMaxMatches, type ProtocolSettings } from "./protocol-client.js";

const DEFAULT_PATIENCE_S = 30;

/** The options of `run`; those that are omitted or empty come from the environment. */
export interface Options {
  /** ASARA_ADDRESS: address of the referee, `host:port` or `unix:/path`. */
  address?: string | undefined;
  /** ASARA_TOKEN: secret that identifies this bot to the referee; never logged. */
  token?: string | undefined;
  /** ASARA_SEAT: expected seat, if this process plays a single match. */
  seat?: number | undefined;
  /** ASARA_SEED: seed of `match.random` and of nonces; without one every run differs. */
  seed?: number | string | undefined;
  /** ASARA_CA: certificate (PEM) of the authority that signed the referee's; without it, no TLS. */
  ca?: string | undefined;
  /** ASARA_TRANSCRIPT: folder for transcripts, one file per match with all messages received. */
  transcript?: string | undefined;
  /** Name and version of the program, for the referee's logs; truncated to 64 bytes. */
  botName?: string | undefined;
  /** Maximum number of matches played at once; default 1. */
  maxMatches?: number | undefined;
  /** True to receive events after every turn instead of with the next decision. */
  liveUpdates?: boolean | undefined;
  /** True to omit `view.publicView` from decisions, for bots that follow the events. */
  omitPublicView?: boolean | undefined;
  /** ASARA_PATIENCE_S: seconds to try to reach the referee before giving up; default 30. */
  patienceS?: number | undefined;
}

/** Complete settings; `ca` is undefined if there is none, and `transcript` empty. */
export interface Settings extends ProtocolSettings {
  readonly address: string;
  /** The certificate itself. */
  readonly ca: Buffer | undefined;
  /** A folder that exists. */
  readonly transcript: string;
  readonly patienceS: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Completes options from the environment, reads the certificate and creates the folder for
 * transcripts.
 *
 * @throws {ConfigurationError} if a setting is missing or invalid.
 */
export function completeSettings(
  options: Options,
  environment: Environment = process.env,
): Settings {
  const read = (name: string): string => environment[`ASARA_${name}`] ?? "";
  const address = options.address || read("ADDRESS");
  const token = options.token || read("TOKEN");
  checkAddress(address, token);
  const maxMatches = options.maxMatches ?? 1;
  checkMaxMatches(maxMatches);
  const patienceS = options.patienceS ?? patience(read("PATIENCE_S"));
  if (!(patienceS >= 0)) {
    throw new ConfigurationError(`patienceS is ${patienceS}: expected 0 or more`);
  }
  return {
    address,
    token,
    seat: options.seat ?? seatNumber(read("SEAT")),
    seed: String(options.seed ?? read("SEED")),
    ca: certificate(options.ca || read("CA")),
    transcript: transcriptFolder(
      options.transcript || read("TRANSCRIPT"),
      read("CONTAINED") !== "",
    ),
    botName: options.botName ?? "",
    maxMatches,
    liveUpdates: options.liveUpdates ?? false,
    omitPublicView: options.omitPublicView ?? false,
    patienceS,
  };
}

function checkAddress(address: string, token: string): void {
  const missing: string[] = [];
  if (address === "") missing.push("ASARA_ADDRESS");
  if (token === "") missing.push("ASARA_TOKEN");
  if (missing.length > 0) {
    const verb = missing.length === 1 ? "is" : "are";
    throw new ConfigurationError(
      `${missing.join(" and ")} ${verb} not set: start this bot with \`asara match\`, ` +
        "or set ASARA_ADDRESS (host:port or unix:/path) and ASARA_TOKEN",
    );
  }
  if (!address.startsWith("unix:") && !/^.+:[0-9]+$/.test(address)) {
    throw new ConfigurationError(`ASARA_ADDRESS is '${address}': expected host:port or unix:/path`);
  }
}

function seatNumber(text: string): number | undefined {
  if (text === "") return undefined;
  if (!/^[0-9]+$/.test(text)) {
    throw new ConfigurationError(`ASARA_SEAT is '${text}': expected a seat number`);
  }
  return Number(text);
}

function patience(text: string): number {
  if (text === "") return DEFAULT_PATIENCE_S;
  if (!/^[0-9]+(\.[0-9]+)?$/.test(text)) {
    throw new ConfigurationError(
      `ASARA_PATIENCE_S is '${text}': expected seconds, such as 30 or 0.5`,
    );
  }
  return Number(text);
}

function certificate(path: string): Buffer | undefined {
  if (path === "") return undefined;
  let pem: Buffer;
  try {
    pem = readFileSync(path);
  } catch (error) {
    throw new ConfigurationError(
      `ASARA_CA: cannot read '${path}' (${systemError(error)}); expected ` +
        "the certificate of the authority that signed the referee's certificate",
    );
  }
  try {
    new X509Certificate(pem);
  } catch {
    throw new ConfigurationError(`ASARA_CA: '${path}' contains no PEM certificate`);
  }
  return pem;
}

function transcriptFolder(folder: string, contained: boolean): string {
  if (folder === "") return "";
  if (contained) {
    throw new ConfigurationError(
      "a transcript is asked for, but the sandbox of this bot is deleted with everything " +
        "in it; play with --sandbox none, or without the transcript",
    );
  }
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new ConfigurationError(
      `ASARA_TRANSCRIPT: cannot create the folder '${folder}' ` +
        `(${systemError(error)}); choose a writable one`,
    );
  }
  return folder;
}
