/** Links to a moment of a match: the viewer in the query, the moment in the fragment. */

import type { MatchRecord, Moment, Viewer } from "../match/model.js";

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

export function locate({ moments }: MatchRecord, link: Link): Located {
  switch (link.kind) {
    case "moment": {
      const position = Math.min(link.moment, moments.length - 1);
      return { position, exact: position === link.moment };
    }
    case "decision":
      return locateDecision(moments, link.seat, link.decision);
    case "unreadable":
      return { position: 0, exact: false };
  }
}

function locateDecision(moments: readonly Moment[], seat: number, decision: number): Located {
  let position = 0;
  let distance = Number.POSITIVE_INFINITY;
  for (const moment of moments) {
    if (moment.decision?.seat !== seat) continue;
    const away = Math.abs(Number(moment.decision.decisionId) - decision);
    // The last of several answers to one decision is the one that counted.
    if (away <= distance) {
      distance = away;
      position = moment.index;
    }
  }
  if (distance === Number.POSITIVE_INFINITY) return { position, exact: false, none: true };
  return { position, exact: distance === 0 };
}

/** The position in another record of the same match that shows as much as `moment`. */
export function samePlace({ moments }: MatchRecord, moment: Moment): number {
  const { decision } = moment;
  if (decision !== undefined) {
    const { position, exact } = locateDecision(moments, decision.seat, Number(decision.decisionId));
    if (exact) return position;
  }
  const reached = moments.findIndex(({ sequence }) => sequence >= moment.sequence);
  return reached === -1 ? moments.length - 1 : reached;
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
