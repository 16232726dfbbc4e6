/** What a match was decided by, as the server sends it and files contain it. */

/** A share of a match, and the distance to the ends of its interval (95 %). */
export type Interval = readonly [middle: number, margin: number];

/** The score that a seat could expect after a number of events, from what it knew. */
export interface CoursePoint {
  readonly seat: number;
  readonly sequence: number;
  readonly expected: Interval;
}

/** A decision that certainly cost something. */
export interface Mark {
  readonly seat: number;
  readonly decision: number;
  /** Number of events before it. */
  readonly sequence: number;
  readonly year: number;
  readonly label: "inaccuracy" | "mistake" | "blunder";
  readonly cost: Interval;
  /** A serialized `Action` as base64. */
  readonly better: string;
}

/** A draw that certainly helped or hurt a seat. */
export interface Stroke {
  readonly seat: number;
  /** Number of events, with those of the draw. */
  readonly sequence: number;
  readonly draw: "deal" | "year" | "buyers" | "lit windows";
  readonly gained: Interval;
}

export interface SeatSum {
  readonly seat: number;
  /** What its marked decisions cost. */
  readonly lost: Interval;
  /** Number of its marked decisions. */
  readonly marks: number;
  /** Null in a file for one seat, which could not know it. */
  readonly luck: Interval | null;
}

export interface Analysis {
  readonly course: readonly CoursePoint[];
  readonly marks: readonly Mark[];
  readonly strokes: readonly Stroke[];
  readonly sums: readonly SeatSum[];
}

/** The analysis, or the reason why an existing one is ignored; neither if there is none. */
export interface AnalysisAnswer {
  readonly analysis: Analysis | null;
  readonly ignored: string;
}
