/** A match of which everything that can be shown is here already: no server is asked. */

import { signal } from "@preact/signals";
import type { ReplayView } from "asara/gen/replay_view_pb.js";
import type { AnalysisAnswer } from "../match/analysis.js";
import type { MatchRecord, MatchSetting, Viewer } from "../match/model.js";
import { restrictView } from "../match/restrict.js";
import { recordOf } from "../match/timeline.js";
import { viewerText } from "./links.js";
import { allViewers, type MatchSource, type Signature, type SourceState } from "./source.js";

export class HeldSource implements MatchSource {
  readonly record = signal<MatchRecord | undefined>(undefined);
  readonly state = signal<SourceState>({ kind: "loading" });
  readonly viewers = signal<readonly Viewer[]>([]);
  /** Everything that is here; undefined if it is not more than the record. */
  protected whole: ReplayView | undefined;

  protected hold(record: MatchRecord, whole: ReplayView | undefined): void {
    this.whole = whole;
    this.record.value = record;
    this.state.value = { kind: "over" };
    this.viewers.value = whole === undefined ? [record.setting.viewer] : viewersOf(record.setting);
  }

  async show(viewer: Viewer): Promise<string | undefined> {
    const known = this.viewers.value.some((each) => viewerText(each) === viewerText(viewer));
    if (known && this.whole !== undefined) {
      this.record.value = recordOf(restrictView(this.whole, viewer));
    }
    return undefined;
  }

  async signature(): Promise<Signature | undefined> {
    return { kind: "part" };
  }

  async analysis(): Promise<AnalysisAnswer | undefined> {
    return undefined;
  }

  close(): void {}
}

/** A match that the page has received; its analysis may come later. */
export class ReceivedSource extends HeldSource {
  readonly #analysis: Promise<AnalysisAnswer | undefined> | undefined;

  constructor(
    record: MatchRecord,
    whole?: ReplayView,
    analysis?: Promise<AnalysisAnswer | undefined>,
  ) {
    super();
    this.#analysis = analysis;
    this.hold(record, whole);
  }

  override async analysis(): Promise<AnalysisAnswer | undefined> {
    return this.#analysis;
  }
}

/** What a viewer may see contains what everybody may; an open match contains all views. */
function viewersOf({ viewer, entries }: MatchSetting): readonly Viewer[] {
  if (viewer.kind === "open") return allViewers(entries.length);
  return viewer.kind === "seat" ? [{ kind: "everybody" }, viewer] : [viewer];
}
