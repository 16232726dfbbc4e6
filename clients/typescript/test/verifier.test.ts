import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { sizeDelimitedDecodeStream } from "@bufbuild/protobuf/wire";
import { MatchEndedSchema, MatchStartedSchema, PlayResponseSchema } from "../src/gen/play_pb.js";
import { nodePlatform } from "../src/node-platform.js";
import { fileName } from "../src/transcript.js";
import { makeNonce, Verifier } from "../src/verifier.js";
import { hex, vectors } from "./vectors.js";

const PLATFORM = nodePlatform("");

interface SeededNonce {
  readonly seed: string;
  readonly match_id: string;
  readonly seat: number;
  readonly nonce: string;
}

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "asara-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a seed determines the nonces, and without one they are random", () => {
  const { seeded_nonces } = vectors<{ seeded_nonces: readonly SeededNonce[] }>("joint_deal.json");
  assert.ok(seeded_nonces.length > 0);
  for (const { seed, match_id, seat, nonce } of seeded_nonces) {
    assert.equal(hex(makeNonce(PLATFORM, seed, match_id, seat)), nonce);
  }
  assert.notDeepEqual(makeNonce(PLATFORM, "", "m1", 0), makeNonce(PLATFORM, "", "m1", 0));
});

test("names of matches become safe names of files", () => {
  assert.equal(fileName("r1-pro+gifts-0007.2"), "r1-pro+gifts-0007.2");
  assert.equal(fileName("../é"), "%2E.%2F%C3%A9");
  assert.equal(fileName("x".repeat(300)).length, 200);
});

test("a secret that does not open the commitment is reported, of a shared deal if it is told", () => {
  const right = Buffer.alloc(32, 1);
  const wrong = Buffer.alloc(32, 2);
  for (const [sharedDeal, dealSecret, violations] of [
    [false, right, 0],
    [false, wrong, 1],
    [false, Buffer.alloc(0), 1],
    [true, Buffer.alloc(0), 0],
    [true, right, 0],
    [true, wrong, 1],
  ] as const) {
    const said: string[] = [];
    const verifier = new Verifier("m1", 0, { ...PLATFORM, log: (line) => said.push(line) });
    const dealCommitment = PLATFORM.sha256(right);
    verifier.matchStarted(create(MatchStartedSchema, { dealCommitment, sharedDeal }));
    verifier.matchEnded(create(MatchEndedSchema, { dealSecret }));
    assert.equal(said.filter((line) => line.includes("does not open")).length, violations);
  }
});

test("a transcript has all messages, and an existing one is kept", async () => {
  const messages = [
    Buffer.of(0x3a, 0),
    Buffer.concat([Buffer.of(0x3a, 202, 1, 10, 199, 1), Buffer.alloc(199, "x")]),
  ];
  for (let round = 0; round < 2; round++) {
    const verifier = new Verifier("a/b", 1, nodePlatform(folder));
    for (const message of messages) verifier.record(message);
    verifier.matchEnded(create(MatchEndedSchema, { void: true }));
    const name = round === 0 ? "a%2Fb-seat1" : "a%2Fb-seat1-2";
    assert.equal(readFileSync(join(folder, `${name}.digest`), "utf8"), `${hex(verifier.digest)}\n`);
    const written = readFileSync(join(folder, `${name}.transcript`));
    const reasons: (string | undefined)[] = [];
    const chunks = (async function* () {
      yield written;
    })();
    for await (const { response } of sizeDelimitedDecodeStream(PlayResponseSchema, chunks)) {
      reasons.push(response.case === "goodbye" ? response.value.reason : undefined);
    }
    assert.deepEqual(reasons, ["", "x".repeat(199)]);
  }
  assert.equal(readdirSync(folder).length, 4);
});
