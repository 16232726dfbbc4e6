/** A match cannot be shown; the message is one sentence for people. */
export class MatchError extends Error {
  override name = "MatchError";
}
