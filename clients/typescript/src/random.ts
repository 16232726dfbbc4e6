import type { Platform } from "./platform.js";

/**
 * Returns a generator of numbers from 0 to below 1, like Math.random, that depends on the text
 * alone: xoshiro128** of Blackman and Vigna, whose state is the first half of the text's SHA-256.
 */
export function seededRandom(platform: Platform, text: string): () => number {
  const digest = platform.sha256(text);
  const state = new DataView(digest.buffer, digest.byteOffset);
  let a = state.getUint32(0, true);
  let b = state.getUint32(4, true);
  let c = state.getUint32(8, true);
  let d = state.getUint32(12, true);

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
  platform: Platform,
  seed: string,
  matchId: string,
  seat: number,
  decisionId: bigint,
  count: number,
): number {
  const digest = platform.sha256(`${seed}/${matchId}/${seat}/${decisionId}`);
  // The remainder of the first 64 bits, byte by byte: a BigInt or a DataView takes far longer.
  let remainder = 0;
  for (const byte of digest.subarray(0, 8)) remainder = (remainder * 256 + byte) % count;
  return remainder;
}
