import { expect, test } from "vitest";
import {
  fragmentOf,
  locate,
  parseFragment,
  parseViewer,
  samePlace,
  viewerText,
} from "../../src/replay/links.js";
import { sampleRecord } from "../samples.js";

const RECORD = sampleRecord("richest-4");
const EVERYBODY = sampleRecord("richest-4", { kind: "everybody" });

test("the link of every moment leads back to it, or to the answer that counted", () => {
  for (const moment of RECORD.moments) {
    const link = parseFragment(fragmentOf(moment));
    if (link === undefined) throw new Error("no link");
    const { position, exact } = locate(RECORD, link);
    expect(exact).toBe(true);
    expect(position).toBe(moment.index);
  }
});

test.each(["#", ""])("%j is no link", (fragment) => {
  expect(parseFragment(fragment)).toBeUndefined();
});

test.each(["#moment--1", "#moment-1e3", "#seat-9-decision-", "#<script>", "#moment-9999999"])(
  "%j cannot be read, and opens the start",
  (fragment) => {
    const link = parseFragment(fragment);
    expect(link).toEqual({ kind: "unreadable" });
    if (link !== undefined) expect(locate(RECORD, link)).toEqual({ position: 0, exact: false });
  },
);

test("a link to what is not there leads to the nearest moment and is not exact", () => {
  const last = RECORD.moments.length - 1;
  expect(locate(RECORD, { kind: "moment", moment: 99999 })).toEqual({
    position: last,
    exact: false,
  });
  const found = locate(RECORD, { kind: "decision", seat: 1, decision: 99999 });
  expect(found.exact).toBe(false);
  expect(RECORD.moments[found.position]?.decision?.seat).toBe(1);
  expect(found.none).toBeUndefined();
  expect(locate(EVERYBODY, { kind: "decision", seat: 1, decision: 2 })).toEqual({
    position: 0,
    exact: false,
    none: true,
  });
});

test("another viewer is shown as much of the match, and no more than its turn", () => {
  for (const moment of RECORD.moments) {
    const there = EVERYBODY.moments[samePlace(EVERYBODY, moment)];
    expect(there?.sequence).toBeGreaterThanOrEqual(moment.sequence);
    const before = EVERYBODY.moments[(there?.index ?? 0) - 1];
    if (before !== undefined) expect(before.sequence).toBeLessThan(moment.sequence);
  }
});

test("viewers have names that lead back to them", () => {
  for (const text of ["everybody", "open", "seat-0", "seat-3"]) {
    const viewer = parseViewer(text);
    expect(viewer && viewerText(viewer)).toBe(text);
  }
  expect(parseViewer("seat-7")).toBeUndefined();
  expect(parseViewer(null)).toBeUndefined();
});
