/** Links to a moment of a match: the viewer in the query, the moment in the fragment. */

import type { MatchRecord, Moment, Viewer } from "../match/model.js";
import { decisionIndex, sequenceIndex } from "../match/places.js";

export type Link =
  | { readonly kind: "moment"; readonly moment: number }
  | { readonly kind: "decision"; readonly seat: number; readonly decision: number }
  | { readonly kind: "unreadable" };

/** The link that a fragment contains; undefined without a fragment. */
export function parseFragment(fragment: string): Link | undefined {
  const text = fragment.replace(/^#/, "");
  if (text === "") return undefined;
  const moment = /^moment-(\d{1,6})$/.exec(text);
  if (moment !== null) return { kind: "moment", moment: Number(moment[1]) };
  const decision = /^seat-(\d)-decision-(\d{1,6})$/.exec(text);
  if (decision === null) return { kind: "unreadable" };
  return { kind: "decision", seat: Number(decision[1]), decision: Number(decision[2]) };
}

/** The fragment that leads to a moment. */
export function fragmentOf({ decision, index }: Moment): string {
  return decision === undefined || decision.decisionId === 0n
    ? `#moment-${index}`
    : `#seat-${decision.seat}-decision-${decision.decisionId}`;
}

/** Position of a link, or of the nearest moment if the record does not contain it. */
export interface Located {
  readonly position: number;
  readonly exact: boolean;
  /** True if the record has no decision of the seat: the position is the start. */
  readonly none?: boolean;
}

export function locate(record: MatchRecord, link: Link): Located {
  switch (link.kind) {
    case "moment": {
      const position = Math.min(link.moment, record.moments.length - 1);
      return { position, exact: position === link.moment };
    }
    case "decision":
      return locateDecision(record, link.seat, link.decision);
    case "unreadable":
      return { position: 0, exact: false };
  }
}

function locateDecision(record: MatchRecord, seat: number, decision: number): Located {
  const position = decisionIndex(record, seat, decision);
  if (position !== undefined) return { position, exact: true };
  const numbers = record.moments.flatMap((moment) =>
    moment.decision?.seat === seat ? [Number(moment.decision.decisionId)] : [],
  );
  const away = (number: number) => Math.abs(number - decision);
  const [nearest] = numbers.sort((one, other) => away(one) - away(other));
  if (nearest === undefined) return { position: 0, exact: false, none: true };
  return { position: decisionIndex(record, seat, nearest) ?? 0, exact: false };
}

/** The position in another record of the same match that shows as much as `moment`. */
export function samePlace(record: MatchRecord, { decision, sequence }: Moment): number {
  const answer = decision && decisionIndex(record, decision.seat, Number(decision.decisionId));
  return answer ?? sequenceIndex(record, sequence);
}

/** A viewer as the address and the server name it. */
export function viewerText(viewer: Viewer): string {
  return viewer.kind === "seat" ? `seat-${viewer.seat}` : viewer.kind;
}

/** The viewer that a text names; undefined for any other text. */
export function parseViewer(text: string | null): Viewer | undefined {
  if (text === "everybody" || text === "open") return { kind: text };
  const seat = /^seat-([0-3])$/.exec(text ?? "");
  return seat === null ? undefined : { kind: "seat", seat: Number(seat[1]) };
}
