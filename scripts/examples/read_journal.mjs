// Reads a run from its journal alone: checks every row, hash and signature, the manifest and the end
// of the run, and prints the standings.
//
//     node read_journal.mjs RUN [referee.pub]
//
// server/asara_server/journal/README.md describes the file, server/asara_server/replay/README.md the
// chain of a replay. Nothing of ASARA is needed.
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const MAGIC = Buffer.from("ASARA run log 3\n");
const REPLAY_MAGIC = Buffer.from("ASARA\r\n\x04");
const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();

/** Yields the frames of all rows, with each row's position. A last row that was cut short is left out. */
function* rows(data) {
  if (!data.subarray(0, 16).equals(MAGIC)) throw new Error("not a journal");
  let before = MAGIC;
  let at = 16;
  while (at + 4 <= data.length) {
    const end = at + 4 + data.readUInt32LE(at);
    if (end + 16 > data.length) return;
    const checksum = sha256(before, data.subarray(at + 4, end)).subarray(0, 16);
    if (!data.subarray(end, end + 16).equals(checksum)) throw new Error(`byte ${at}: damaged`);
    yield [data.subarray(at + 4, end), at];
    before = checksum;
    at = end + 16;
  }
}

/** Returns a varint and the position behind it. */
function varint(data, at) {
  let value = 0;
  for (let shift = 1; ; shift *= 128) {
    const byte = data[at++];
    value += (byte & 127) * shift;
    if (byte < 128) return [value, at];
  }
}

/** Yields the number of each frame, its content, and the content with its length before it. */
function* frames(row) {
  for (let at = 0; at < row.length; ) {
    const [number, start] = varint(row, at);
    const [length, content] = varint(row, start);
    at = content + length;
    yield [number, row.subarray(content, at), row.subarray(start, at)];
  }
}

/** Throws unless these records are the replay that a result names, signed by the referee. */
function checkReplay(result, held, key) {
  const file = Buffer.concat([REPLAY_MAGIC, ...held.map(([, delimited]) => delimited)]);
  if (sha256(file).toString("hex") !== result.replay_sha256) throw new Error("another replay");
  const records = held.map(([record]) => record);
  const signature = records.pop().subarray(-64);
  const chain = records.reduce((hash, record) => sha256(hash, record), sha256(REPLAY_MAGIC));
  if (!verify(null, chain, key, signature)) throw new Error(`${result.match_id}: signature`);
}

/** Returns a document of the run; throws unless the referee signed it. */
function checkDocument({ content, signature }, key) {
  if (!verify(null, Buffer.from(content), key, Buffer.from(signature, "hex")))
    throw new Error("a document has another signature");
  return JSON.parse(content);
}

/** Throws unless the tree head, written at this position, belongs to what is before it. */
function checkEnd(head, manifest, attempts, before) {
  const wanted = [sha256(Buffer.from(manifest)).toString("hex"), attempts, sha256(before).toString("hex")];
  const found = [head.manifest_sha256, head.attempts, head.journal_sha256];
  if (wanted.join() !== found.join()) throw new Error("the tree head belongs to another journal");
}

/** Returns the score of a rank: 1 for the best, 0 for the last; ties share. */
function score(rank, ranks) {
  const better = ranks.filter((other) => other < rank).length;
  const equal = ranks.filter((other) => other === rank).length - 1;
  return 1 - (better + equal / 2) / (ranks.length - 1);
}

const [run, keyFile = join(run, "referee.pub")] = process.argv.slice(2);
const key = createPublicKey(readFileSync(keyFile));
const matches = new Map();
const scores = new Map();
const data = readFileSync(join(run, "run.journal"));
let manifest;
let attempts = 0;
let last;
let end;
for (const [row, at] of rows(data)) {
  last = at;
  for (const [number, content, delimited] of frames(row)) {
    if (number) {
      matches.get(number).push([content, delimited]);
      continue;
    }
    const [, kind, match, text] = content.toString().match(/^([a-z_]+) (?:(\d+) )?(.*)$/s);
    if (kind === "match") matches.set(Number(match), []);
    if (kind === "manifest") checkDocument((manifest = JSON.parse(text)), key);
    if (kind === "tree_head") {
      const head = checkDocument(JSON.parse(text), key);
      checkEnd(head, manifest.content, attempts, data.subarray(0, at));
      end = { at, state: head.state };
    }
    if (kind !== "result") continue;
    attempts += 1;
    const result = JSON.parse(text);
    if (!result.void) {
      checkReplay(result, matches.get(Number(match)), key);
      const ranks = result.seats.map((seat) => seat.rank);
      for (const { entry, rank } of result.seats)
        scores.set(entry, [...(scores.get(entry) ?? []), score(rank, ranks)]);
    }
    matches.delete(Number(match));
  }
}
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const standings = [...scores].map(([entry, values]) => [entry, values.length, mean(values)]);
for (const [entry, played, points] of standings.sort((one, other) => other[2] - one[2]))
  console.log(`${entry}\t${played}\t${points.toFixed(3)}`);
const state = end?.at === last ? end.state : "not ended";  // a run that is resumed has several ends
console.error(`The run is ${state}; all signatures are the referee's.`);
