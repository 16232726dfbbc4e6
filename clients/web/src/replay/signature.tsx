/** The signature of the match's file: the result of checking it here, and what that means. */

import type { MatchStore } from "./store.js";

export function SignatureNote(_: { store: MatchStore }) {
  return null;
}
