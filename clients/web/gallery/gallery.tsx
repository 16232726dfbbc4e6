/**
 * Shows the board in sample states, for looking: `npx vite`, then
 * /gallery/gallery.html?sample=middle&theme=dark&aside=1&choices=1. Not part of the build.
 */

import { fromBinary } from "@bufbuild/protobuf";
import { EventSchema, Termination } from "asara/gen/event_pb.js";
import { type PrivateView, ViewSchema } from "asara/gen/view_pb.js";
import { ActionSchema, EditionSchema } from "asara/gen/vocabulary_pb.js";
import { render } from "preact";
import { useState } from "preact/hooks";
import { Board } from "../src/board/board.js";
import { actionsByTarget, type BoardChoices } from "../src/board/targets.js";
import type { MatchSetting, Moment, Viewer } from "../src/match/model.js";
import "../src/ui/theme.css";
import { LANGUAGES } from "../src/words/catalogue.js";
import { language } from "../src/words/language.js";
import samples from "./samples.json";

const bytes = (text: string) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

type Sample = (typeof samples)[number];

function viewerOf(name: string): Viewer {
  if (name === "open" || name === "everybody") return { kind: name };
  return { kind: "seat", seat: Number(name.slice(5)) };
}

function moment(data: Sample["moment"], viewer: Viewer, forfeit: boolean): Moment {
  const views = data.views.map((text) => fromBinary(ViewSchema, bytes(text)));
  const sees = (seat: number) =>
    viewer.kind === "open" || (viewer.kind === "seat" && viewer.seat === seat);
  const publicView = views[0]?.publicView;
  if (publicView === undefined) throw new Error("no view");
  return {
    index: data.index,
    sequence: data.index,
    events: data.events.map((text) => fromBinary(EventSchema, bytes(text))),
    table: {
      publicView,
      privateViews: views.map((v, seat): PrivateView | undefined =>
        sees(seat) ? v.privateView : undefined,
      ),
      forfeits: views.map((_, seat) => (forfeit && seat === 2 ? Termination.TIME_OUT : undefined)),
    },
  };
}

/** Draws two moments in turns; returns the mean time of a drawing in milliseconds. */
function bench(sample: Sample, rounds: number): number {
  const viewer = viewerOf(sample.viewer);
  const setting = settingOf(sample, viewer);
  const moments = [moment(sample.previous, viewer, false), moment(sample.moment, viewer, false)];
  const place = document.createElement("div");
  document.body.append(place);
  const draw = (i: number) => {
    const now = moments[i % 2];
    if (now === undefined) return;
    const board = <Board setting={setting} moment={now} previous={moments[(i + 1) % 2]} animate />;
    render(board, place);
    place.getBoundingClientRect(); // with layout
  };
  draw(0);
  const started = performance.now();
  for (let i = 1; i <= rounds; i++) draw(i);
  const mean = (performance.now() - started) / rounds;
  render(null, place);
  place.remove();
  return mean;
}

Object.assign(window, {
  bench: (name: string, rounds: number) => {
    const sample = samples.find((one) => one.name === name);
    return sample && bench(sample, rounds);
  },
});

function settingOf(sample: Sample, viewer: Viewer): MatchSetting {
  return {
    matchId: sample.name,
    entries: sample.entries,
    ruleSets: sample.ruleSets,
    edition: fromBinary(EditionSchema, bytes(sample.edition)),
    viewer,
    sharedDeal: "",
  };
}

function Gallery() {
  const query = new URLSearchParams(location.search);
  const sample = samples.find(({ name }) => name === query.get("sample")) ?? samples[0];
  const [step, setStep] = useState(query.has("before") ? 0 : 1);
  if (sample === undefined) return null;
  const viewer = viewerOf(query.get("viewer") ?? sample.viewer);
  const setting = settingOf(sample, viewer);
  const forfeit = query.has("forfeit");
  const last = moment(sample.previous, viewer, forfeit);
  const now = moment(sample.moment, viewer, forfeit);
  const legal = sample.moment.legal.map((text) => fromBinary(ActionSchema, bytes(text)));
  const searched = now.table.privateViews.some((mine) => mine?.searchedSections.length);
  const choices: BoardChoices = {
    actions: actionsByTarget(legal, searched),
    chosen: new Set(),
    choose: (target) => document.body.setAttribute("data-chose", target),
  };
  return (
    <main style={{ padding: "12px" }}>
      <Board
        setting={setting}
        moment={step === 0 ? last : now}
        previous={step === 0 ? undefined : last}
        animate={query.has("before")}
        choices={query.has("choices") && step === 1 ? choices : undefined}
        raised={query.has("raised") ? [{ seat: 0, tower: { number: 1 } }, { seat: 1, tower: { number: 2 } }] : undefined}
        aside={query.has("aside") ? <div class="card">What happened, in words.</div> : undefined}
      />
      {query.has("before") && (
        <button type="button" onClick={() => setStep(1 - step)}>
          Step
        </button>
      )}
    </main>
  );
}

const tongue = LANGUAGES.find((l) => l === new URLSearchParams(location.search).get("language"));
if (tongue !== undefined) language.value = tongue;
const theme = new URLSearchParams(location.search).get("theme");
if (theme !== null) document.documentElement.dataset["theme"] = theme;
const root = document.getElementById("page");
if (root !== null) render(<Gallery />, root);
