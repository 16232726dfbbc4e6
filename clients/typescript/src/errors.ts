/** Errors of this package. */

const CLIENT_LIBRARY = "use the client library that comes with the referee";
const ADVICE: Readonly<Record<string, string>> = {
  UNAUTHENTICATED:
    "set ASARA_TOKEN to what `asara match` printed last, or what the organiser gave you",
  FAILED_PRECONDITION: CLIENT_LIBRARY,
  INVALID_ARGUMENT: CLIENT_LIBRARY,
  ABORTED: "each process needs its own token",
  RESOURCE_EXHAUSTED: "see the limits in proto/README.md",
  UNIMPLEMENTED: "no ASARA referee listens there; check ASARA_ADDRESS",
};

/** Base class of all errors of this package; `message` is a single line. */
export class AsaraError extends Error {
  override name = "AsaraError";
  /** Exit status of a bot that `run` ends because of this error. */
  readonly exitStatus: number = 1;
}

/** A setting is missing or invalid. */
export class ConfigurationError extends AsaraError {
  override name = "ConfigurationError";
  override readonly exitStatus = 2;
}

/** The author's program misuses this package; for example, `decide` returned undefined. */
export class BotError extends AsaraError {
  override name = "BotError";
}

/** The referee ended the stream for a reason that a new connection would not change. */
export class RefusedError extends AsaraError {
  override name = "RefusedError";
  /** Name of the gRPC status, such as `"UNAUTHENTICATED"`. */
  readonly code: string;
  /** The referee's `asara-reason`, such as `"unknown-token"`; empty if it sent none. */
  readonly reason: string;

  constructor(address: string, code: string, reason: string, detail: string) {
    const advice = ADVICE[code];
    const text = `the referee at ${address} refused this bot (${reason || code}): ${line(detail)}`;
    super(advice === undefined ? text : `${text}; ${advice}`);
    this.code = code;
    this.reason = reason;
  }
}

/** No referee could be reached for longer than `Options.patienceS`. */
export class ConnectionLostError extends AsaraError {
  override name = "ConnectionLostError";

  constructor(address: string, patienceS: number, detail: string) {
    super(`no referee at ${address} for ${patienceS} s: ${line(detail)}`);
  }
}

function line(text: string): string {
  return text.trim().split(/\s+/).join(" ") || "no details";
}
