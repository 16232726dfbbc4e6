import { createHash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import { ReplayViewSchema } from "asara/gen/replay_view_pb.js";
import { expect, test } from "vitest";
import type { Viewer } from "../../src/match/model.js";
import { restrictView } from "../../src/match/restrict.js";
import { SAMPLES, sampleFile, sampleRecord, sampleView } from "../samples.js";

function viewerOf(text: string): Viewer {
  return text === "everybody"
    ? { kind: "everybody" }
    : { kind: "seat", seat: Number(text.slice("seat-".length)) };
}

test.each(SAMPLES)("each viewer of %s sees, byte for byte, what the server sends", (name) => {
  const open = sampleView(name);
  const before = structuredClone(open);
  const digests: Record<string, string> = JSON.parse(
    new TextDecoder().decode(sampleFile(`${name}.viewers.json`)),
  );
  expect(Object.keys(digests).length).toBe(1 + open.entries.length);
  for (const [viewer, expected] of Object.entries(digests)) {
    const bytes = toBinary(ReplayViewSchema, restrictView(open, viewerOf(viewer)));
    expect([viewer, createHash("sha256").update(bytes).digest("hex")]).toEqual([viewer, expected]);
  }
  expect(open).toEqual(before);
});

test("the open view is returned as it is", () => {
  const open = sampleView("basic-2");
  expect(restrictView(open, { kind: "open" })).toBe(open);
});

test("a record for everybody has neither decisions nor private views", () => {
  const { moments, setting } = sampleRecord("richest-4", { kind: "everybody" });
  expect(setting.viewer).toEqual({ kind: "everybody" });
  for (const { decision, table } of moments) {
    expect(decision).toBeUndefined();
    expect(table.privateViews.every((own) => own === undefined)).toBe(true);
  }
});

test("a record of a seat has the decisions and private views of that seat alone", () => {
  const { moments } = sampleRecord("richest-4", { kind: "seat", seat: 2 });
  const decisions = moments.filter(({ decision }) => decision !== undefined);
  expect(decisions.length).toBeGreaterThan(20);
  expect(new Set(decisions.map(({ decision }) => decision?.seat))).toEqual(new Set([2]));
  for (const { table } of moments) {
    expect([0, 1, 3].every((seat) => table.privateViews[seat] === undefined)).toBe(true);
  }
});
