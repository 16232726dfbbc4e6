import { hash } from "node:crypto";

/**
 * Returns a generator of numbers from 0 to below 1, like Math.random, that depends on the text
 * alone: xoshiro128** of Blackman and Vigna, whose state is the first half of the text's SHA-256.
 */
export function seededRandom(text: string): () => number {
  const state = hash("sha256", text, "buffer");
  let a = state.readUInt32LE(0);
  let b = state.readUInt32LE(4);
  let c = state.readUInt32LE(8);
  let d = state.readUInt32LE(12);

  function next(): number {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result;
  }

  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}

/**
 * Returns the index of the legal action that the published rule for random bots chooses; see
 * proto/README.md, "Random legal actions".
 */
export function randomIndex(
  seed: string,
  matchId: string,
  seat: number,
  decisionId: bigint,
  count: number,
): number {
  const digits = hash("sha256", `${seed}/${matchId}/${seat}/${decisionId}`, "hex").slice(0, 16);
  return Number(BigInt(`0x${digits}`) % BigInt(count));
}
