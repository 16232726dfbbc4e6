import { readFileSync } from "node:fs";

const FOLDER = new URL("../../../../tests/vectors/", import.meta.url);

/** Reads data that the clients in all languages are tested with. */
export function vectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
}

/** Returns the bytes of a number in hexadecimal. */
export function bytes(hex: string): Uint8Array {
  return Buffer.from(hex, "hex");
}

/** Returns bytes as a number in hexadecimal. */
export function hex(data: Uint8Array): string {
  return Buffer.from(data).toString("hex");
}
