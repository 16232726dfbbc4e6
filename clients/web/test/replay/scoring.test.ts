import { expect, test } from "vitest";
import { finalAwards, ledger } from "../../src/replay/scoring/scoring.js";
import { SAMPLES, sampleRecord } from "../samples.js";

test.each(SAMPLES)("the table of %s adds up to the prestige, at every moment", (name) => {
  const record = sampleRecord(name);
  for (const { index, table } of record.moments) {
    const groups = ledger(record, index);
    for (const { seat, prestige } of table.publicView.seats) {
      const sum = groups.reduce((total, { sums }) => total + (sums[seat] ?? 0), 0);
      expect(sum).toBe(prestige);
    }
  }
});

test.each(SAMPLES)("the towers in question of %s earn what the referee gave", (name) => {
  const record = sampleRecord(name);
  const awards = finalAwards(record);
  expect(awards.map((award) => award.name)).toEqual([1, 2, 3, 4, 5, "highest", "most", "money"]);
  for (const { name: award, prizes, towers, points } of awards) {
    if (prizes === undefined) continue;
    // In "most towers" a seat has a place once, whichever of its towers are raised.
    const places =
      award === "most" ? [...new Map(towers.map((t) => [t.seat, t])).values()] : towers;
    const first = places.filter(({ place }) => place === 1).length;
    const second = places.length - first;
    const sums = points.map(() => 0);
    for (const { seat, place } of places) {
      const total = first > 1 ? prizes.first + prizes.second : prizes.first;
      const each = place === 1 ? Math.ceil(total / first) : Math.ceil(prizes.second / second);
      sums[seat] = (sums[seat] ?? 0) + each;
    }
    expect(sums).toEqual(points);
  }
});

test("a match that is not over has no final awards", () => {
  const record = sampleRecord("basic-2");
  expect(finalAwards({ ...record, moments: record.moments.slice(0, 20) })).toEqual([]);
});
