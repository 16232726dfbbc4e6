import assert from "node:assert/strict";
import { test } from "node:test";
import { nodePlatform } from "../src/node-platform.js";
import { randomIndex, seededRandom } from "../src/random.js";
import { vectors } from "./vectors.js";

const PLATFORM = nodePlatform("");

interface Choice {
  readonly seed: string;
  readonly match_id: string;
  readonly seat: number;
  readonly decision_id: number;
  readonly count: number;
  readonly index: number;
}

test("random bots choose by the published rule", () => {
  const { choices } = vectors<{ choices: readonly Choice[] }>("random_action.json");
  assert.ok(choices.length > 5);
  for (const { seed, match_id, seat, decision_id, count, index } of choices) {
    assert.equal(randomIndex(PLATFORM, seed, match_id, seat, BigInt(decision_id), count), index);
  }
});

test("random numbers follow from the text, and are spread over 0 to 1", () => {
  const first = seededRandom(PLATFORM, "1/m1/0");
  const again = seededRandom(PLATFORM, "1/m1/0");
  const other = seededRandom(PLATFORM, "1/m1/1");
  const numbers = Array.from({ length: 10_000 }, first);
  assert.deepEqual(numbers, Array.from({ length: 10_000 }, again));
  assert.notEqual(numbers[0], other());
  assert.ok(numbers.every((number) => number >= 0 && number < 1));
  const tenths = new Array<number>(10).fill(0);
  for (const number of numbers) {
    const tenth = Math.floor(10 * number);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  // 1,000 each, with a standard deviation of 30.
  assert.ok(
    tenths.every((count) => Math.abs(count - 1_000) < 150),
    String(tenths),
  );
});
