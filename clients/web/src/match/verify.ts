/**
 * Checks a replay file: that its records are those that its key signed, and that the match shown is
 * the one in it.
 *
 * The records hold the actions, times and results. That all else follows from them, `asara audit`
 * shows by playing the match again.
 */

import { equals } from "@bufbuild/protobuf";
import type { Event } from "asara/gen/event_pb.js";
import { ClocksSchema, RejectionReason } from "asara/gen/play_pb.js";
import { type ReplayDecision, type ReplayView, ViewerKind } from "asara/gen/replay_view_pb.js";
import { type Action, ActionSchema } from "asara/gen/vocabulary_pb.js";
import {
  BrokenReplay,
  expandEdition,
  type Fault,
  type ReplayFile,
  readReplayFile,
} from "./replay-file.js";

const FINGERPRINT_BYTES = 8;
const SHOWN_REJECTED_ACTIONS = 64;

/** The part of a match that a view shows otherwise than the file. */
export type Part = "setting" | "decisions" | "events" | "results";

/** What a check found; `reason` is a part of a sentence, in English. */
export type Verdict =
  /** The key signed all records, and the match shown is the one in the file. */
  | { readonly kind: "sound"; readonly key: string; readonly records: number }
  /** The file is damaged; `record` counts from 1, and is 0 for the file's first bytes. */
  | {
      readonly kind: "broken";
      readonly fault: Fault;
      readonly record: number;
      readonly offset: number;
      readonly reason: string;
    }
  /** A record or the signature was changed after the signing. */
  | { readonly kind: "forged"; readonly key: string }
  /** The file is signed by another key than the one expected. */
  | { readonly kind: "other-key"; readonly key: string; readonly expected: string }
  /** The match shown is not the one that was signed. */
  | {
      readonly kind: "different";
      readonly key: string;
      readonly part: Part;
      readonly reason: string;
    }
  /** The browser cannot check Ed25519 signatures; everything else was in order. */
  | { readonly kind: "unsupported"; readonly key: string };

/**
 * Checks a replay file, and that `shown` is what it contains. With an expected public key, it must
 * be the one that signed the file. Never throws.
 */
export async function verifyReplay(
  bytes: Uint8Array<ArrayBuffer>,
  shown?: ReplayView,
  expectedKey?: Uint8Array,
): Promise<Verdict> {
  let file: ReplayFile;
  try {
    file = readReplayFile(bytes);
  } catch (error) {
    if (!(error instanceof BrokenReplay)) throw error;
    const { fault, record, offset, message: reason } = error;
    return { kind: "broken", fault, record, offset, reason };
  }
  const key = fingerprint(file.signature.publicKey);
  const holds = await signatureHolds(file);
  if (holds === false) return { kind: "forged", key };
  if (expectedKey !== undefined && !sameBytes(expectedKey, file.signature.publicKey)) {
    return { kind: "other-key", key, expected: fingerprint(expectedKey) };
  }
  if ((await expandEdition(Uint8Array.from(file.header.editionZlib))) === undefined) {
    const reason = "its edition is damaged, or larger than any";
    return { kind: "broken", fault: "edition", record: 1, offset: 8, reason };
  }
  const difference = shown && (await findDifference(file, shown));
  if (difference !== undefined) return { kind: "different", key, ...difference };
  if (holds === undefined) return { kind: "unsupported", key };
  return { kind: "sound", key, records: file.records.length };
}

/** Returns the part of a public key by which people recognise it, as `asara audit` prints it. */
export function fingerprint(publicKey: Uint8Array): string {
  const part = publicKey.subarray(0, FINGERPRINT_BYTES);
  return Array.from(part, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns true if the key signed the records; undefined if the browser cannot tell. */
async function signatureHolds({
  start,
  records,
  signature,
}: ReplayFile): Promise<boolean | undefined> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle; // not in insecure contexts
  if (subtle === undefined) return undefined;
  let link = await sha256(start);
  for (const { data } of records.slice(0, -1)) link = await sha256(link, data);
  const key = Uint8Array.from(signature.publicKey);
  let imported: CryptoKey;
  try {
    imported = await subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
  } catch (error) {
    const { name } = error as Error;
    return name === "DataError" ? false : undefined; // no such algorithm
  }
  try {
    return await subtle.verify("Ed25519", imported, Uint8Array.from(signature.signature), link);
  } catch (error) {
    return (error as Error).name === "NotSupportedError" ? undefined : false;
  }
}

async function sha256(...parts: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", joined));
}

// The match shown

type Difference = { readonly part: Part; readonly reason: string };

async function findDifference(
  file: ReplayFile,
  shown: ReplayView,
): Promise<Difference | undefined> {
  return (
    (await settingDifference(file, shown)) ??
    decisionsDifference(file, shown) ??
    eventsDifference(file, shown) ??
    resultsDifference(file, shown)
  );
}

async function settingDifference(
  { header }: ReplayFile,
  shown: ReplayView,
): Promise<Difference | undefined> {
  const hashes = globalThis.crypto?.subtle !== undefined;
  const same =
    header.matchId === shown.matchId &&
    header.sharedDeal === shown.sharedDeal &&
    header.startedUnixMs === shown.startedUnixMs &&
    (!hashes || sameBytes(await sha256(header.dealSecret), shown.dealCommitment)) &&
    sameList(header.entries, shown.entries, (a, b) => a === b) &&
    sameList(header.ruleSets, shown.ruleSets, (a, b) => a === b) &&
    header.clocks !== undefined &&
    shown.clocks !== undefined &&
    equals(ClocksSchema, header.clocks, shown.clocks);
  if (same) return undefined;
  return { part: "setting", reason: "the name, the entries, the rules or the clocks are others" };
}

/** Compares the replies of the seats that the viewer sees, each with its time. */
function decisionsDifference({ records }: ReplayFile, shown: ReplayView): Difference | undefined {
  const sees = (seat: number) =>
    shown.viewer === ViewerKind.OPEN ||
    (shown.viewer === ViewerKind.SEAT && shown.viewerSeat === seat);
  const signed = repliesOf(records).filter((reply) => sees(reply.seat));
  const seen = shown.moments
    .flatMap(({ decision }) => decision ?? [])
    .filter((decision) => decision.actions.length > 0 || isRejected(decision));
  for (let at = 0; at < Math.max(signed.length, seen.length); at++) {
    const one = signed[at];
    const other = seen[at];
    if (one !== undefined && other !== undefined && sameReply(one, other)) continue;
    const { seat, decisionId } = other ?? { seat: one?.seat, decisionId: undefined };
    const which = decisionId === undefined ? "a reply is missing" : `decision ${decisionId}`;
    return { part: "decisions", reason: `seat ${seat}, ${which}` };
  }
  return undefined;
}

interface Reply {
  readonly seat: number;
  readonly actions: readonly Action[];
  readonly timeUs: bigint;
  /** Undefined for a rejected reply. */
  readonly botUs: bigint | undefined;
  readonly rejection: RejectionReason;
}

function repliesOf(records: ReplayFile["records"]): Reply[] {
  const replies: Reply[] = [];
  let beforeUs = 0n; // the time of the record before
  for (const { record } of records) {
    if (record.case === "reply") {
      const { seat, actions, afterUs, botUs = afterUs } = record.value;
      beforeUs += afterUs;
      const rejection = RejectionReason.UNSPECIFIED;
      replies.push({ seat, actions, timeUs: beforeUs, botUs, rejection });
    } else if (record.value !== undefined && "timeUs" in record.value) {
      beforeUs = record.value.timeUs;
    }
    if (record.case === "rejection") {
      const { seat, timeUs, reason } = record.value;
      const actions = record.value.actions.slice(0, SHOWN_REJECTED_ACTIONS);
      replies.push({ seat, actions, timeUs, botUs: undefined, rejection: reason });
    }
  }
  return replies;
}

function sameReply(signed: Reply, shown: ReplayDecision): boolean {
  return (
    signed.seat === shown.seat &&
    signed.rejection === shown.rejection &&
    signed.timeUs === shown.timeUs &&
    (signed.botUs === undefined || signed.botUs === shown.botUs) &&
    sameList(signed.actions, shown.actions, (a, b) => equals(ActionSchema, known(a), known(b)))
  );
}

/** Rejected actions may have fields that nobody knows, which views do not have. */
function known(action: Action): Action {
  const { $unknown: _, ...rest } = action;
  return rest;
}

/**
 * Compares the events with the signed actions of all seats: those that have an event of their own
 * must be among the events in the same order. Others are moves without a choice, or a steward's.
 */
function eventsDifference({ records }: ReplayFile, shown: ReplayView): Difference | undefined {
  const events = shown.moments.flatMap((moment) => moment.events);
  let at = 0;
  for (const { record } of records) {
    if (record.case !== "reply") continue;
    const { seat, actions } = record.value;
    for (const action of actions) {
      if (!hasEvent(action)) continue;
      while (at < events.length && !isEventOf(events[at], seat, action)) at++;
      if (at === events.length) {
        return { part: "events", reason: `an action of seat ${seat} has no event` };
      }
      at++;
    }
  }
  return undefined;
}

const WITH_EVENT: ReadonlySet<string | undefined> = new Set([
  "layBuyers",
  "takeSection",
  "decline",
  "buildCount",
  "foundTower",
  "extendTower",
  "lightWindow",
  "searchPile",
  "payOffer",
  "keepLitWindows",
  "wish",
]);

function hasEvent({ action }: Action): boolean {
  return WITH_EVENT.has(action.case);
}

function isEventOf(given: Event | undefined, seat: number, { action }: Action): boolean {
  if (given?.seat !== seat) return false;
  const { event } = given;
  switch (action.case) {
    case "layBuyers": {
      const { buyers, faceDown } = action.value;
      if (event.case !== "buyersDispatched" || event.value.count !== buyers.length) return false;
      return event.value.colour === (faceDown ? 0 : buyers[0]);
    }
    case "takeSection":
      return event.case === "sectionTaken" && same(event.value.section, action.value.section);
    case "decline":
      return event.case === "moveDeclined";
    case "buildCount":
      return event.case === "buildStarted" && event.value.count === action.value.count;
    case "foundTower": {
      const { colour, baseGold, turretGold } = action.value;
      if (event.case !== "towerFounded") return false;
      const tower = event.value.tower;
      return (
        tower?.colour === colour && tower.baseGold === baseGold && tower.turretGold === turretGold
      );
    }
    case "extendTower":
      if (event.case !== "towerExtended" || event.value.tower !== action.value.tower) return false;
      return same(event.value.section, action.value.section);
    case "lightWindow":
      if (event.case !== "windowLit" || event.value.tower !== action.value.tower) return false;
      return event.value.gold === action.value.gold;
    case "searchPile":
      return event.case === "pileSearched" && event.value.kind === action.value.kind;
    case "payOffer":
      return event.case === "litWindowsDrawn" && -given.asari === action.value.asari;
    case "keepLitWindows":
      return event.case === "litWindowsKept" && event.value.count === action.value.colours.length;
    case "wish":
      return event.case === "wishMade" && same(event.value.space, action.value.space);
    default:
      return false;
  }
}

/** Compares sections and spaces, whose fields are plain. */
function same(a: object | undefined, b: object | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function resultsDifference({ result }: ReplayFile, shown: ReplayView): Difference | undefined {
  const same = sameList(
    result.results,
    shown.results,
    (signed, seen) =>
      signed.rank === seen.rank &&
      signed.prestige === seen.prestige &&
      signed.termination === seen.termination &&
      signed.detail === seen.detail,
  );
  if (same) return undefined;
  return { part: "results", reason: "the results are others" };
}

function isRejected({ rejection }: ReplayDecision): boolean {
  return rejection !== RejectionReason.UNSPECIFIED;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return sameList(Array.from(a), Array.from(b), (x, y) => x === y);
}

function sameList<A, B = A>(
  a: readonly A[],
  b: readonly B[],
  alike: (a: A, b: B) => boolean,
): boolean {
  return a.length === b.length && a.every((item, at) => alike(item, b[at] as B));
}
