/** The state of a match page: the player, and what follows from it and from the match. */

import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Analysis } from "../match/analysis.js";
import type { MatchRecord, Moment, Viewer } from "../match/model.js";
import { decisionIndex } from "../match/places.js";
import * as settings from "../settings.js";
import { t } from "../words/language.js";
import { replay } from "../words/sections/replay.js";
import type { Placed } from "./analysis/analysed.js";
import { type Jump, landmarksOf } from "./landmarks.js";
import { fragmentOf, type Link, locate, parseFragment, samePlace, viewerText } from "./links.js";
import * as players from "./player.js";
import { finalAwards } from "./scoring/scoring.js";
import type { MatchSource } from "./source.js";

const ADDRESS_DELAY_MS = 300; // browsers permit few changes of the address a second
const AWARD_MS = 2200;

type AnalysisParts = typeof import("./analysis/analysis.js");

/** What is shown of an analysis, and the code that shows it, which only few matches need. */
export interface Analysed extends Placed {
  readonly parts: AnalysisParts;
}

/** A match with its position. `record` is there: a page makes a store when its match is. */
export class MatchStore {
  readonly record;
  readonly player;
  /** One sentence about the last request, for all to see and for screen readers. */
  readonly notice = signal("");
  /** Number of the award shown; that of all awards shows the table. */
  readonly award = signal<number | undefined>(undefined);
  /** The analysis of the match with the code that shows it, once both are loaded. */
  readonly #analysis = signal<
    { readonly data: Analysis; readonly parts: AnalysisParts } | undefined
  >(undefined);
  /** Why an analysis that exists is ignored. */
  readonly ignored = signal("");
  readonly #awardsPlay = signal(false);
  readonly #stops: (() => void)[] = [];

  constructor(
    readonly source: MatchSource,
    first: MatchRecord,
    /** False if the address of the page is no place in the match. */
    readonly linked = true,
    /** The seat of the reader, if the reader has played. */
    readonly you?: number,
  ) {
    this.record = signal(first);
    this.player = signal(
      players.newPlayer({
        speed: settings.speed.value,
        spoilerFree: settings.spoilerFree.value,
      }),
    );
    if (!this.course.value.over) this.act((player, course) => players.goToEnd(player, course));
  }

  readonly landmarks = computed(() => landmarksOf(this.record.value, this.analysed.value));
  readonly course = computed<players.Course>(() => ({
    length: this.record.value.moments.length,
    over: this.record.value.results !== undefined || this.record.value.void === true,
  }));
  readonly moment = computed<Moment>(() => {
    const { moments } = this.record.value;
    const moment = moments[this.player.value.position] ?? moments.at(-1);
    if (moment === undefined) throw new RangeError("a match without moments");
    return moment;
  });
  readonly previous = computed(() => this.record.value.moments[this.moment.value.index - 1]);
  readonly hidesEnd = computed(() => players.hidesEnd(this.player.value, this.course.value));
  /** The analysis as far as this view may show it; absent until the end without spoilers. */
  readonly analysed: ReadonlySignal<Analysed | undefined> = computed(() => {
    const found = this.#analysis.value;
    if (found === undefined || this.hidesEnd.value) return undefined;
    const { data, parts } = found;
    return { ...parts.placed(data, this.record.value), parts };
  });
  readonly awards = computed(() => finalAwards(this.record.value));
  /** The moment as the board shows it: while the awards are shown, with the score so far. */
  readonly shown = computed<Moment>(() => {
    const moment = this.moment.value;
    const award = this.award.value;
    const awards = this.awards.value;
    if (award === undefined || award >= awards.length) return moment;
    const left = awards.slice(award + 1);
    const { table } = moment;
    const seats = table.publicView.seats.map((seat) => ({
      ...seat,
      prestige: left.reduce((sum, { points }) => sum - (points[seat.seat] ?? 0), seat.prestige),
    }));
    return { ...moment, table: { ...table, publicView: { ...table.publicView, seats } } };
  });
  readonly playing = computed(() => this.player.value.playing || this.#awardsPlay.value);
  /** True at the last moment of a match that is over. */
  readonly atResult = computed(
    () => this.course.value.over && players.atEnd(this.player.value, this.course.value),
  );
  readonly fragment = computed(() => fragmentOf(this.moment.value));

  /** Starts time, and follows the source; the returned function stops both. */
  run(): () => void {
    this.#stops.push(
      effect(() => {
        const record = this.source.record.value;
        if (record !== undefined && record !== this.record.peek()) this.#replace(record);
      }),
      effect(() => this.#wait()),
      effect(() => {
        settings.speed.value = this.player.value.speed;
      }),
    );
    void this.#loadAnalysis();
    return () => {
      for (const stop of this.#stops.splice(0)) stop();
    };
  }

  async #loadAnalysis(): Promise<void> {
    const answer = await this.source.analysis();
    if (answer === undefined) return;
    this.ignored.value = answer.ignored;
    const { analysis: data } = answer;
    if (data === null) return;
    const parts = await import("./analysis/analysis.js").catch(() => undefined);
    if (parts === undefined) return; // no connection
    try {
      parts.placed(data, this.record.peek());
      this.#analysis.value = { data, parts };
    } catch {
      this.ignored.value = t(replay, "damaged");
    }
  }

  #wait(): (() => void) | undefined {
    if (this.#awardsPlay.value) {
      void this.award.value;
      const timer = setTimeout(() => this.#nextAward(), AWARD_MS / this.player.value.speed);
      return () => clearTimeout(timer);
    }
    const player = this.player.value;
    const course = this.course.value;
    if (!player.playing || players.atEnd(player, course)) return undefined;
    const quiet = this.moment.value.events.length === 0;
    const timer = setTimeout(() => this.#tick(), players.tickMs(player, quiet));
    return () => clearTimeout(timer);
  }

  #tick(): void {
    batch(() => {
      this.player.value = players.tick(this.player.value, this.course.value);
      if (this.atResult.value && this.awards.value.length > 0) this.playAwards();
    });
  }

  #nextAward(): void {
    const next = (this.award.value ?? 0) + 1;
    batch(() => {
      this.award.value = next;
      if (next >= this.awards.value.length) this.#awardsPlay.value = false;
    });
  }

  /** The match has grown, or another viewer's view of it has come. */
  #replace(record: MatchRecord): void {
    batch(() => {
      const same =
        viewerText(record.setting.viewer) === viewerText(this.record.peek().setting.viewer);
      if (same) {
        const before = this.course.peek();
        this.record.value = record;
        this.player.value = players.grow(this.player.peek(), before, this.course.value);
        return;
      }
      const player = this.player.peek();
      const shown = this.moment.peek();
      const farthest = this.record.peek().moments[player.farthest] ?? shown;
      const mark = this.analysed.peek()?.marks.find(({ at }) => at === shown.index);
      const marked = mark && decisionIndex(record, mark.seat, mark.decision);
      this.record.value = record;
      this.player.value = {
        ...player,
        position: marked ?? samePlace(record, shown),
        farthest: samePlace(record, farthest),
        stepped: false,
      };
    });
  }

  /** Moves; what was said about the last request is over. */
  act(change: (player: players.Player, course: players.Course) => players.Player): void {
    batch(() => {
      this.notice.value = "";
      this.#awardsPlay.value = false;
      this.award.value = undefined;
      this.player.value = change(this.player.peek(), this.course.peek());
    });
  }

  goTo(index: number): void {
    this.act((player, course) => players.goTo(player, index, course));
  }

  toEnd(): void {
    this.act(players.goToEnd);
  }

  /** One step; at the end, through the awards to the table. */
  step(forward: boolean): void {
    const last = this.awards.value.length;
    const award = this.award.value;
    if (this.atResult.value && last > 0) {
      const next = (award ?? -1) + (forward ? 1 : -1);
      if (next >= 0) {
        this.showAward(Math.min(next, last));
        return;
      }
    }
    this.goTo(this.player.value.position + (forward ? 1 : -1));
  }

  /** Shows the awards one after the other. */
  playAwards(): void {
    batch(() => {
      this.award.value = 0;
      this.#awardsPlay.value = true;
    });
  }

  showAward(award: number): void {
    batch(() => {
      this.#awardsPlay.value = false;
      this.award.value = award;
    });
  }

  toggle(): void {
    const { award } = this;
    if (award.value !== undefined && award.value < this.awards.value.length) {
      this.#awardsPlay.value = !this.#awardsPlay.value;
      return;
    }
    const playing = !this.playing.value;
    this.act((player, course) => players.setPlaying(player, playing, course));
  }

  setSpeed(speed: players.Speed): void {
    this.player.value = { ...this.player.value, speed };
  }

  setSpoilerFree(spoilerFree: boolean): void {
    settings.spoilerFree.value = spoilerFree;
    const { position } = this.player.value;
    this.player.value = { ...this.player.value, spoilerFree, farthest: position };
  }

  jump(to: Jump | { readonly seat: number }, forward: boolean): void {
    const course = this.course.value;
    const next = players.jump(this.player.value, to, forward, this.landmarks.value, course);
    if (next !== undefined) this.act(() => next);
    else if (!forward && typeof to !== "object") this.goTo(0);
    else this.notice.value = t(replay, "none");
  }

  show(viewer: Viewer): void {
    settings.viewer.value = viewerText(viewer);
    void this.source.show(viewer).then((problem) => {
      if (problem !== undefined) this.notice.value = problem;
    });
  }

  /** Shows the next of the source's viewers. */
  nextViewer(): void {
    const viewers = this.source.viewers.value;
    const shown = viewerText(this.record.value.setting.viewer);
    const index = viewers.findIndex((viewer) => viewerText(viewer) === shown);
    const next = viewers[(index + 1) % viewers.length];
    if (next !== undefined) this.show(next);
  }

  /** Opens a link, or the nearest moment with a sentence that says so. */
  open(link: Link): void {
    const { position, exact, none } = locate(this.record.value, link);
    const beyond = link.kind === "moment" && !exact;
    // The last moment would tell the length.
    if (beyond && this.hidesEnd.value) this.toEnd();
    else this.goTo(position);
    if (exact) return;
    const decision = none ? "noDecisions" : "noDecision";
    const keys = { moment: "noMoment", decision, unreadable: "badLink" } as const;
    const seat = link.kind === "decision" ? link.seat : 0;
    this.notice.value = t(replay, keys[link.kind], { seat });
  }

  /** Keeps the address and the position the same; the returned function stops it. */
  bindAddress(): () => void {
    const open = () => {
      const link = parseFragment(location.hash);
      if (link !== undefined && location.hash !== this.fragment.peek()) this.open(link);
    };
    open();
    addEventListener("hashchange", open);
    const stop = effect(() => {
      const address = this.address(location.href);
      if (this.playing.value) return undefined;
      const timer = setTimeout(() => {
        try {
          history.replaceState(history.state, "", address);
        } catch {
          // Some browsers do not permit it in files.
        }
      }, ADDRESS_DELAY_MS);
      return () => clearTimeout(timer);
    });
    return () => {
      removeEventListener("hashchange", open);
      stop();
    };
  }

  /** The link to the moment shown, with its viewer. */
  address(base: string): string {
    const url = new URL(base);
    url.searchParams.set("viewer", viewerText(this.record.value.setting.viewer));
    url.hash = this.fragment.value;
    return url.href;
  }
}
