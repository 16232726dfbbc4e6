/** The link to a seat: everything behind `#`, which no server is sent. */

export interface SeatLink {
  /** Secret of the seat. */
  readonly token: string;
  /** Names at the table, in the order of the seats of its first match. */
  readonly names: readonly string[];
  /** Position of the person among the names. */
  readonly me: number;
  /** Name under which the server shows the replays of this table; empty if it shows none. */
  readonly run: string;
  /** The match after which the table ends; empty if it goes on for as long as people want. */
  readonly last: string;
}

const MOST_NAMES = 4;

/** Returns what a fragment such as `#token=…&seats=you,greedy&me=0` says; undefined without token. */
export function parseLink(fragment: string): SeatLink | undefined {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const token = parts.get("token") ?? "";
  if (token === "") return undefined;
  const names = (parts.get("seats") ?? "").split(",").filter((name) => name !== "");
  const me = Number(parts.get("me") ?? 0);
  return {
    token,
    names: names.slice(0, MOST_NAMES),
    me: Number.isInteger(me) && me >= 0 && me < names.length ? me : 0,
    run: parts.get("run") ?? "",
    last: parts.get("last") ?? "",
  };
}

/**
 * Returns the names by seat: all move on by one seat after each match, so the person's own seat says
 * where the others sit. Seats without a name have an empty one.
 */
export function namesBySeat({ names, me }: SeatLink, seat: number, seats: number): string[] {
  return Array.from({ length: seats }, (_, other) => {
    if (names.length !== seats) return "";
    return names[(me + other - seat + seats) % seats] ?? "";
  });
}
