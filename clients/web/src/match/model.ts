/** A match as one viewer sees it, moment by moment: what all parts of the page agree on. */

import type { Event, Termination } from "asara/gen/event_pb.js";
import type { Clocks, SeatResult } from "asara/gen/play_pb.js";
import type { ReplayDecision } from "asara/gen/replay_view_pb.js";
import type { PrivateView, PublicView } from "asara/gen/view_pb.js";
import type { Edition, RuleSet } from "asara/gen/vocabulary_pb.js";

/** Whose information is shown: public only, also that of one seat, or that of all seats. */
export type Viewer =
  | { readonly kind: "everybody" }
  | { readonly kind: "seat"; readonly seat: number }
  | { readonly kind: "open" };

/** What does not change during a match. */
export interface MatchSetting {
  readonly matchId: string;
  /** Names of the entries, by seat. */
  readonly entries: readonly string[];
  readonly ruleSets: readonly RuleSet[];
  readonly edition: Edition;
  readonly viewer: Viewer;
  readonly clocks?: Clocks;
  /** Start of the match, in milliseconds since 1970 UTC; unknown of a running match. */
  readonly startedUnixMs?: number;
  /** Name of the deal if other matches may have it; empty otherwise. */
  readonly sharedDeal: string;
  /** SHA-256 of the referee's secret, which commits it to the deal. */
  readonly dealCommitment: Uint8Array;
}

/** The table at one moment. Never changed: every moment has its own. */
export interface TableState {
  readonly publicView: PublicView;
  /** Private views by seat; undefined for seats whose information the viewer does not see. */
  readonly privateViews: readonly (PrivateView | undefined)[];
  /** Reason of the forfeit by seat; undefined for seats that still play. */
  readonly forfeits: readonly (Termination | undefined)[];
}

/**
 * A moment of a match: what has just happened, and the table after it.
 *
 * Each is one step: a decision without a public effect, a dispatch with what it brings, a purchase,
 * one section built, the evaluation of a year, the beginning of the next.
 */
export interface Moment {
  /** Position in the timeline, from 0. */
  readonly index: number;
  /** Sequence number of the last event so far. */
  readonly sequence: number;
  /** Events of this moment, in order; none if a decision had no public effect yet. */
  readonly events: readonly Event[];
  /** The decision that led to this moment, if the viewer sees it. */
  readonly decision?: ReplayDecision;
  /** Seat for which the steward moved here, if the viewer can know it. */
  readonly steward?: number;
  /** The table after the events. */
  readonly table: TableState;
}

/** A match so far. A match that grows has a new record every time, with the same moments in it. */
export interface MatchRecord {
  readonly setting: MatchSetting;
  /** At least one: the set-up. */
  readonly moments: readonly Moment[];
  /** Results in seat order; undefined while the match is running. */
  readonly results: readonly SeatResult[] | undefined;
  /** True if the referee failed and the match does not count; it has no results then. */
  readonly void?: boolean;
}
