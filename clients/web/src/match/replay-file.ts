/** Replay files: eight bytes that identify the format, then each record preceded by its length. */

import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type ReplayHeader,
  type ReplayRecord,
  ReplayRecordSchema,
  type ReplayResult,
  type ReplaySignature,
} from "asara/gen/replay_pb.js";

const MAGIC = Uint8Array.from([..."ASARA\r\n"], (character) => character.charCodeAt(0));
const VERSION = 4;
const START = MAGIC.length + 1;
const LARGEST_FILE = 4 * 2 ** 20; // bytes
const LARGEST_RECORD = 72 * 2 ** 10; // bytes
const MOST_RECORDS = 8_192;
const MOST_SEATS = 4;
const LARGEST_EDITION = 32 * 2 ** 10; // bytes, expanded

/** Kind of a fault of a file, for texts in other languages. */
export type Fault =
  | "empty"
  | "not-a-replay"
  | "version"
  | "too-large"
  | "cut-short"
  | "length"
  | "record"
  | "order"
  | "seats"
  | "secret"
  | "edition";

/** A file cannot be read as a replay. */
export class BrokenReplay extends Error {
  override name = "BrokenReplay";
  readonly fault: Fault;
  /** Number of the record, from 1; 0 for the first bytes of the file. */
  readonly record: number;
  /** Position of the record's first byte. */
  readonly offset: number;

  constructor(fault: Fault, record: number, offset: number, reason: string) {
    super(reason);
    this.fault = fault;
    this.record = record;
    this.offset = offset;
  }
}

/** A record with its bytes, without their length. */
export interface RawRecord {
  /** From 1. */
  readonly number: number;
  /** Position of its length in the file. */
  readonly offset: number;
  readonly data: Uint8Array<ArrayBuffer>;
  readonly record: ReplayRecord["record"];
}

/** A file that was read; neither its signature nor its match has been checked. */
export interface ReplayFile {
  /** The first bytes of the file. */
  readonly start: Uint8Array<ArrayBuffer>;
  /** All records, the signature included. */
  readonly records: readonly RawRecord[];
  readonly header: ReplayHeader;
  readonly result: ReplayResult;
  readonly signature: ReplaySignature;
}

/**
 * Reads a replay file. Reading ends at the first wrong record, and the limits of the format hold.
 *
 * @throws {BrokenReplay}
 */
export function readReplayFile(file: Uint8Array<ArrayBuffer>): ReplayFile {
  checkStart(file);
  const records: RawRecord[] = [];
  const order = new Order();
  for (let offset = START; offset < file.length; ) {
    const number = records.length + 1;
    const fail = (fault: Fault, reason: string): never => {
      throw new BrokenReplay(fault, number, offset, reason);
    };
    if (number > MOST_RECORDS) fail("order", `it has more than ${MOST_RECORDS} records`);
    const [length, at] = readLength(file, offset) ?? fail("length", "its length is damaged");
    if (length > LARGEST_RECORD) fail("length", `${length} bytes are more than any record has`);
    const left = file.length - at;
    if (length > left) fail("cut-short", `it has ${length} bytes, and the file ends after ${left}`);
    const data = file.subarray(at, at + length);
    const record = readRecord(data) ?? fail("record", "it is damaged");
    const fault = order.fault(record);
    if (fault !== undefined) fail(...fault);
    records.push({ number, offset, data, record });
    offset = at + length;
  }
  const { header, result, signature } = order;
  if (header === undefined || result === undefined || signature === undefined) {
    const last = records.at(-1);
    const missing = result === undefined ? "results" : "signature";
    const reason = `the file ends here, without the ${missing}`;
    throw new BrokenReplay("cut-short", last?.number ?? 0, last?.offset ?? START, reason);
  }
  return { start: file.subarray(0, START), records, header, result, signature };
}

/**
 * Expands the edition of a replay, at most to the size that an edition can have.
 *
 * Returns undefined if it is damaged or larger.
 */
export async function expandEdition(
  zlib: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const edition = new Uint8Array(LARGEST_EDITION);
  let length = 0;
  try {
    const expanded = new Blob([zlib]).stream().pipeThrough(new DecompressionStream("deflate"));
    const reader = expanded.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return edition.subarray(0, length);
      if (length + value.length > LARGEST_EDITION) {
        reader.cancel().catch(() => {});
        return undefined;
      }
      edition.set(value, length);
      length += value.length;
    }
  } catch {
    return undefined;
  }
}

function checkStart(file: Uint8Array): void {
  const fail = (fault: Fault, reason: string): never => {
    throw new BrokenReplay(fault, 0, 0, reason);
  };
  if (file.length === 0) fail("empty", "the file is empty");
  if (file.length > LARGEST_FILE) fail("too-large", "the file is larger than any replay");
  const magic = file.subarray(0, MAGIC.length);
  if (magic.some((byte, at) => byte !== MAGIC[at])) {
    fail("not-a-replay", "the file is no replay of an ASARA match");
  }
  if (file.length < START) fail("cut-short", "the file is cut short in its first bytes");
  const version = file[MAGIC.length];
  if (version !== VERSION) {
    fail("version", `the file has format ${version}, and this page reads format ${VERSION}`);
  }
}

/** Returns a length in its shortest form and the position behind it; undefined if it is damaged. */
function readLength(file: Uint8Array, at: number): [number, number] | undefined {
  let length = 0;
  for (let index = 0; index < 5; index++) {
    const byte = file[at + index];
    if (byte === undefined) return undefined;
    length += (byte & 127) * 128 ** index;
    if (byte < 128) return byte === 0 && index > 0 ? undefined : [length, at + index + 1];
  }
  return undefined;
}

/** Returns a record; undefined if its bytes are not those that the referee writes. */
function readRecord(data: Uint8Array): ReplayRecord["record"] | undefined {
  try {
    const message = fromBinary(ReplayRecordSchema, data, { readUnknownFields: false });
    const { record } = message;
    if (record.case === undefined) return undefined;
    if (record.case === "rejection" || record.case === "lateReply") return record; // as a bot sent it
    if (record.case === "reply" && record.value.botUs === record.value.afterUs) return undefined;
    const canonical = toBinary(ReplayRecordSchema, message);
    const same =
      canonical.length === data.length && data.every((byte, at) => byte === canonical[at]);
    return same ? record : undefined;
  } catch {
    return undefined;
  }
}

/** The order of the records, and the seats in them. */
class Order {
  header: ReplayHeader | undefined;
  result: ReplayResult | undefined;
  signature: ReplaySignature | undefined;
  #number = 0;
  readonly #rejections = [0, 0, 0, 0];

  /** Returns what is wrong with a record at this place. */
  fault(record: ReplayRecord["record"]): [Fault, string] | undefined {
    this.#number++;
    if (this.signature !== undefined) return ["order", "it follows the signature"];
    if (this.result !== undefined && record.case !== "signature") {
      return ["order", "it follows the results, where only the signature may"];
    }
    if (this.#number === 1 && record.case !== "header") return ["order", "it is not the header"];
    if (this.#number === 2 && record.case !== "start") return ["order", "it is not the start"];
    switch (record.case) {
      case "header":
        if (this.#number > 1) return ["order", "it is a second header"];
        this.header = record.value;
        return headerFault(record.value);
      case "start":
        return this.#number > 2 ? ["order", "it is a second start"] : this.#seatFault(record);
      case "result":
        this.result = record.value;
        return this.#resultFault(record.value);
      case "signature":
        if (this.result === undefined) return ["order", "it is a signature before the results"];
        this.signature = record.value;
        return signatureFault(record.value);
      default:
        return this.#seatFault(record);
    }
  }

  get #seats(): number {
    return this.header?.entries.length ?? 0;
  }

  #seatFault(record: ReplayRecord["record"]): [Fault, string] | undefined {
    for (const seat of seatsOf(record)) {
      if (seat >= 0 && seat < this.#seats) continue;
      return ["seats", `it names seat ${seat}, which the match does not have`];
    }
    if (record.case !== "rejection") return undefined;
    const { seat } = record.value;
    const count = (this.#rejections[seat] ?? 0) + 1;
    this.#rejections[seat] = count;
    if (count <= (this.header?.rejectionsForgiven ?? 0) + 1) return undefined;
    return ["order", `it is rejection ${count} of its seat, which had forfeited`];
  }

  #resultFault({ results, digests }: ReplayResult): [Fault, string] | undefined {
    if (results.length === this.#seats && digests.length === this.#seats) return undefined;
    return ["seats", "it has not one result and one digest for each seat"];
  }
}

function headerFault({ entries, dealSecret }: ReplayHeader): [Fault, string] | undefined {
  if (entries.length < 2 || entries.length > MOST_SEATS) {
    return ["seats", `it names ${entries.length} entries`];
  }
  if (dealSecret.length === 32) return undefined;
  return ["secret", `the secret of the deal has ${dealSecret.length} bytes instead of 32`];
}

function signatureFault({ publicKey, signature }: ReplaySignature): [Fault, string] | undefined {
  if (publicKey.length === 32 && signature.length === 64) return undefined;
  return ["record", "its key or its signature has a wrong length"];
}

function seatsOf(record: ReplayRecord["record"]): readonly number[] {
  switch (record.case) {
    case "start": {
      const { present, absent } = record.value;
      return [...present, ...absent].map(({ seat }) => seat);
    }
    case "expiry":
      return record.value.seats;
    case "enter":
      return [record.value.presence?.seat ?? 0];
    case "reply":
    case "rejection":
    case "forfeit":
    case "leave":
    case "pause":
    case "lateReply":
      return [record.value.seat];
    default:
      return [];
  }
}
