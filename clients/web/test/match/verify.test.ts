import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { deflateSync } from "node:zlib";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type ReplayRecord, ReplayRecordSchema } from "asara/gen/replay_pb.js";
import { afterEach, expect, test, vi } from "vitest";
import type { Viewer } from "../../src/match/model.js";
import { readReplayFile } from "../../src/match/replay-file.js";
import { restrictView } from "../../src/match/restrict.js";
import { fingerprint, type Verdict, verifyReplay } from "../../src/match/verify.js";
import { SAMPLES, sampleFile, sampleView } from "../samples.js";

afterEach(() => vi.unstubAllGlobals());

const NAME = "pro-gifts-2";
const FILE = sampleFile(`${NAME}.asara`);
const START = 8;

test.each(SAMPLES)(
  "the replay of %s is sound, and each view of it is what was signed",
  async (name) => {
    const file = sampleFile(`${name}.asara`);
    const open = sampleView(name);
    const viewers: Viewer[] = [
      { kind: "open" },
      { kind: "everybody" },
      ...open.entries.map((_, seat) => ({ kind: "seat", seat }) as const),
    ];
    for (const viewer of viewers) {
      const verdict = await verifyReplay(file, restrictView(open, viewer));
      expect(verdict).toMatchObject({
        kind: "sound",
        records: readReplayFile(file).records.length,
      });
    }
  },
);

test("the key is named as the command line names it", async () => {
  const { signature } = readReplayFile(FILE);
  const hex = Buffer.from(signature.publicKey).toString("hex");
  expect(fingerprint(signature.publicKey)).toBe(hex.slice(0, 16));
  expect(await verifyReplay(FILE)).toMatchObject({ key: hex.slice(0, 16) });
});

test("a file signed by another key than the one expected is not sound", async () => {
  const { publicKey } = readReplayFile(FILE).signature;
  expect((await verifyReplay(FILE, undefined, publicKey)).kind).toBe("sound");
  const other = rawKey(generateKeyPairSync("ed25519").publicKey);
  expect(await verifyReplay(FILE, undefined, other)).toMatchObject({
    kind: "other-key",
    key: fingerprint(publicKey),
  });
});

test("no changed byte goes unnoticed", async () => {
  const kinds = new Set<string>();
  for (let at = 0; at < FILE.length; at += 37) {
    const changed = FILE.slice();
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    const { kind } = await verifyReplay(changed);
    kinds.add(kind);
    expect([at, kind]).not.toEqual([at, "sound"]);
  }
  expect(kinds).toEqual(new Set(["broken", "forged"]));
});

test("no shorter file is a replay, and nothing may follow the signature", async () => {
  for (let length = 0; length < FILE.length; length += 97) {
    expect((await verifyReplay(FILE.slice(0, length))).kind).toBe("broken");
  }
  expect(await verifyReplay(joined(FILE, Uint8Array.of(0)))).toMatchObject({ kind: "broken" });
});

test.each<[string, Uint8Array<ArrayBuffer>, Partial<Verdict>]>([
  ["empty", new Uint8Array(), { fault: "empty", record: 0 } as Partial<Verdict>],
  ["a picture", new Uint8Array(100).fill(0x89), { fault: "not-a-replay" } as Partial<Verdict>],
  ["only begun", FILE.slice(0, 5), { fault: "cut-short" } as Partial<Verdict>],
  ["of the next format", withByte(7, 5), { fault: "version" } as Partial<Verdict>],
  ["too large", new Uint8Array(2 ** 22 + 1), { fault: "too-large" } as Partial<Verdict>],
  ["without records", FILE.slice(0, START), { fault: "cut-short" } as Partial<Verdict>],
  [
    "with a giant record",
    joined(FILE.slice(0, START), varint(2 ** 31)),
    { fault: "length", record: 1, offset: 8 } as Partial<Verdict>,
  ],
  [
    "with a length without end",
    joined(FILE.slice(0, START), new Uint8Array(50).fill(0xff)),
    { fault: "length" } as Partial<Verdict>,
  ],
  [
    "with a length in a longer form",
    joined(FILE.slice(0, START), Uint8Array.of(0x81, 0)),
    { fault: "length" } as Partial<Verdict>,
  ],
  [
    "with a record of nothing",
    joined(FILE.slice(0, START), Uint8Array.of(0)),
    { fault: "record" } as Partial<Verdict>,
  ],
])("a file that is %s is refused with the reason", async (_, file, expected) => {
  expect(await verifyReplay(file)).toMatchObject({ kind: "broken", ...expected });
});

test("a file of endless small records is refused at the limit", async () => {
  const leave = toBinary(
    ReplayRecordSchema,
    message({ case: "leave", value: { seat: 0, timeUs: 0n } }),
  );
  const records = recordBytes();
  const many = new Array<Uint8Array>(9_000).fill(leave);
  const verdict = await verifyReplay(assembled([...records.slice(0, 2), ...many]));
  expect(verdict).toMatchObject({ kind: "broken", fault: "order", record: 8_193 });
});

// Forged by someone with a key of their own

const FORGER = generateKeyPairSync("ed25519");

test("a record in another encoding is refused", async () => {
  const records = recordBytes();
  const reply = records[3];
  if (reply === undefined) throw new Error("no record");
  records[3] = joined(reply, Uint8Array.of(0xf8, 0x7f, 1)); // a field that nobody knows
  expect(await verifyReplay(signed(records))).toMatchObject({
    kind: "broken",
    fault: "record",
    record: 4,
  });
});

test.each<[string, (records: ReplayRecord[]) => ReplayRecord[]]>([
  ["without a header", (records) => records.slice(1)],
  ["without a start", ([header, , ...rest]) => [header as ReplayRecord, ...rest]],
  ["with two headers", ([header, ...rest]) => [header, header, ...rest] as ReplayRecord[]],
  [
    "with two starts",
    ([header, start, ...rest]) => [header, start, start, ...rest] as ReplayRecord[],
  ],
  ["without results", (records) => records.slice(0, -1)],
  ["with two results", (records) => [...records, ...records.slice(-1)]],
  [
    "with the reply of a seat that is not there",
    change((record) => {
      if (record.case === "reply") record.value.seat = 7;
    }),
  ],
  [
    "with an expiry of a negative seat",
    (records) => [
      ...records.slice(0, 2),
      message({ case: "expiry", value: { seats: [-1], timeUs: 0n } }),
      ...records.slice(2),
    ],
  ],
  [
    "with one result only",
    change((record) => {
      if (record.case === "result") record.value.results.pop();
    }),
  ],
  [
    "with a short secret",
    change((record) => {
      if (record.case === "header") record.value.dealSecret = new Uint8Array(31);
    }),
  ],
  [
    "with a time that follows from the record before",
    change((record) => {
      if (record.case === "reply") record.value.botUs = record.value.afterUs;
    }),
  ],
  [
    "with 100 entries",
    change((record) => {
      if (record.case === "header") record.value.entries = new Array(100).fill("bot");
    }),
  ],
  [
    "with an edition that is a bomb",
    change((record) => {
      if (record.case === "header")
        record.value.editionZlib = deflateSync(Buffer.alloc(30_000_000));
    }),
  ],
  [
    "with a damaged edition",
    change((record) => {
      if (record.case === "header") record.value.editionZlib = Uint8Array.of(1, 2, 3);
    }),
  ],
  [
    "with endless rejections",
    (records) => [
      ...records.slice(0, 2),
      ...new Array(9).fill(message({ case: "rejection", value: { seat: 0 } })),
      ...records.slice(2),
    ],
  ],
])("a signed file %s is broken", async (_, forge) => {
  const records = forge(recordsOf());
  const verdict = await verifyReplay(
    signed(records.map((each) => toBinary(ReplayRecordSchema, each))),
  );
  expect(verdict.kind).toBe("broken");
  if (verdict.kind !== "broken") return;
  expect(verdict.record).toBeGreaterThan(0);
  expect(verdict.reason).not.toBe("");
});

test.each<[string, string, (records: ReplayRecord[]) => ReplayRecord[]]>([
  [
    "results",
    "another prestige",
    change((record) => {
      if (record.case === "result" && record.value.results[0]) record.value.results[0].prestige++;
    }),
  ],
  [
    "setting",
    "another name",
    change((record) => {
      if (record.case === "header") record.value.entries[0] = "somebody";
    }),
  ],
  [
    "setting",
    "another start",
    change((record) => {
      if (record.case === "header") record.value.startedUnixMs++;
    }),
  ],
  [
    "setting",
    "another secret",
    change((record) => {
      if (record.case === "header") record.value.dealSecret = new Uint8Array(32);
    }),
  ],
  [
    "decisions",
    "another time",
    change((record) => {
      if (record.case === "reply") record.value.afterUs++;
    }),
  ],
  [
    "decisions",
    "another time of the bot",
    change((record) => {
      if (record.case === "reply") record.value.botUs = record.value.afterUs + 1n;
    }),
  ],
  ["decisions", "a reply fewer", (records) => records.filter((_, index) => index !== 20)],
  [
    "decisions",
    "another action",
    (records) => {
      const at = records.findIndex(({ record }) => record.case === "reply");
      const one = records[at]?.record;
      const other = records.slice(at + 1).find(({ record }) => record.case === "reply")?.record;
      if (one?.case === "reply" && other?.case === "reply") one.value.actions = other.value.actions;
      return records;
    },
  ],
])("a sound file of another match is noticed: other %s, %s", async (part, _, forge) => {
  const records = forge(recordsOf()).map((each) => toBinary(ReplayRecordSchema, each));
  const file = signed(records);
  expect(await verifyReplay(file)).toMatchObject({ kind: "sound", key: keyOf(FORGER.publicKey) });
  expect(await verifyReplay(file, sampleView(NAME))).toMatchObject({ kind: "different", part });
  const original = readReplayFile(FILE).signature.publicKey;
  expect((await verifyReplay(file, undefined, original)).kind).toBe("other-key");
});

test("changed events are noticed, also in the view of everybody", async () => {
  const open = sampleView(NAME);
  const everybody = restrictView(open, { kind: "everybody" });
  for (const view of [open, everybody]) {
    for (const kind of [
      "buyersDispatched",
      "sectionTaken",
      "towerFounded",
      "buildStarted",
    ] as const) {
      const moments = view.moments.map((moment) => ({
        ...moment,
        events: moment.events.filter(({ event }) => event.case !== kind),
      }));
      expect(await verifyReplay(FILE, { ...view, moments })).toMatchObject({
        kind: "different",
        part: "events",
      });
    }
  }
});

// Browsers that cannot check

test("a browser without Ed25519 says so, and still finds what is damaged or different", async () => {
  const { subtle } = globalThis.crypto;
  const importKey = () =>
    Promise.reject(new DOMException("no such algorithm", "NotSupportedError"));
  vi.stubGlobal("crypto", { subtle: { digest: subtle.digest.bind(subtle), importKey } });
  const { signature } = readReplayFile(FILE);
  const key = fingerprint(signature.publicKey);
  const open = sampleView(NAME);
  expect(await verifyReplay(FILE, open)).toEqual({ kind: "unsupported", key });
  expect((await verifyReplay(FILE, { ...open, matchId: "other" })).kind).toBe("different");
  expect((await verifyReplay(FILE.slice(0, 99))).kind).toBe("broken");
});

test("a page without WebCrypto, as over plain HTTP from elsewhere, says so", async () => {
  vi.stubGlobal("crypto", {});
  expect((await verifyReplay(FILE, sampleView(NAME))).kind).toBe("unsupported");
});

// Files

type Init = ReplayRecord["record"];

function change(edit: (record: Init) => void): (records: ReplayRecord[]) => ReplayRecord[] {
  return (records) => {
    for (const { record } of records) edit(record);
    return records;
  };
}

function message(record: MessageInitShape<typeof ReplayRecordSchema>["record"] & {}): ReplayRecord {
  return create(ReplayRecordSchema, { record });
}

/** Serialized records, without the signature. */
function recordBytes(): Uint8Array[] {
  return readReplayFile(FILE)
    .records.slice(0, -1)
    .map(({ data }) => data);
}

function recordsOf(): ReplayRecord[] {
  return recordBytes().map((data) => fromBinary(ReplayRecordSchema, data));
}

function signed(records: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let link = createHash("sha256").update(FILE.slice(0, START)).digest();
  for (const record of records) link = createHash("sha256").update(link).update(record).digest();
  const publicKey = rawKey(FORGER.publicKey);
  const value = { publicKey, signature: new Uint8Array(sign(null, link, FORGER.privateKey)) };
  const signature = toBinary(ReplayRecordSchema, message({ case: "signature", value }));
  return assembled([...records, signature]);
}

function assembled(records: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return joined(
    FILE.slice(0, START),
    ...records.flatMap((record) => [varint(record.length), record]),
  );
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat(parts));
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Uint8Array.from([...bytes, rest]);
}

function withByte(at: number, byte: number): Uint8Array<ArrayBuffer> {
  const changed = FILE.slice();
  changed[at] = byte;
  return changed;
}

/** The 32 bytes of a key, the last ones of its encoding. */
function rawKey(key: KeyObject): Uint8Array {
  return new Uint8Array(key.export({ format: "der", type: "spki" }).subarray(-32));
}

function keyOf(key: KeyObject): string {
  return fingerprint(rawKey(key));
}
