/**
 * Shows the board in sample states, for looking: `npx vite`, then
 * /gallery/gallery.html?match=richest-4&at=middle&viewer=seat-1&theme=dark&aside=1&choices=1.
 * Not part of the build.
 */

import { fromBinary } from "@bufbuild/protobuf";
import { type ReplayView, ReplayViewSchema } from "asara/gen/replay_view_pb.js";
import { render } from "preact";
import { useState } from "preact/hooks";
import { actionsByTarget, Board, type BoardChoices } from "../src/board/index.js";
import type { MatchRecord, Moment, Viewer } from "../src/match/model.js";
import { restrictView } from "../src/match/restrict.js";
import { recordOf } from "../src/match/timeline.js";
import "../src/ui/theme.css";
import "../src/words/all.js";
import { LANGUAGES } from "../src/words/catalogue.js";
import { language } from "../src/words/language.js";

const query = new URLSearchParams(location.search);
const files = import.meta.glob<string>("../../../tests/vectors/replay_views/*.view.gz", {
  query: "?url&inline",
  import: "default",
});

async function load(name: string): Promise<ReplayView> {
  const file = files[`../../../tests/vectors/replay_views/${name}.view.gz`];
  if (file === undefined) throw new Error(`no match ${name}`);
  const { body } = await fetch(await file());
  const plain = body?.pipeThrough(new DecompressionStream("gzip"));
  return fromBinary(ReplayViewSchema, new Uint8Array(await new Response(plain).arrayBuffer()));
}

function viewerOf(name: string): Viewer {
  if (name === "open" || name === "everybody") return { kind: name };
  return { kind: "seat", seat: Number(name.slice(5)) };
}

/** Returns the index of a moment by its number, or by what happens after it. */
function indexOf({ moments }: MatchRecord, at: string): number {
  if (/^\d+$/.test(at)) return Number(at);
  const third = moments.findIndex(({ table }) => table.publicView.year === 3);
  const fourth = moments.findIndex(({ table }) => table.publicView.year === 4);
  const middle = Math.floor((third + (fourth < 0 ? moments.length : fourth)) / 2);
  if (at === "opening") return 1;
  if (at === "middle") return middle;
  if (at === "final") return moments.length - 1;
  const found = moments.findIndex(
    ({ events }, i) => i > (at === "pileSearched" ? 0 : middle) && events.at(-1)?.event.case === at,
  );
  return found < 0 ? middle : found;
}

/** The choices of the next decision, if the viewer sees it. */
function choicesOf(moment: Moment, next: Moment | undefined): BoardChoices | undefined {
  const legal = next?.decision?.legalActions;
  if (legal === undefined) return undefined;
  const searched = moment.table.privateViews.some((mine) => mine?.searchedSections.length);
  return {
    actions: actionsByTarget(legal, searched),
    chosen: new Set(query.get("chosen")?.split(",") ?? []),
    choose: (target) => document.body.setAttribute("data-chose", target),
    refuse: () => {},
  };
}

function Gallery({ record }: { readonly record: MatchRecord }) {
  const [index, setIndex] = useState(indexOf(record, query.get("at") ?? "middle"));
  const [previous, setPrevious] = useState<Moment>();
  const moment = record.moments[index];
  if (moment === undefined) return null;
  return (
    <main style={{ padding: "12px" }}>
      <Board
        setting={record.setting}
        moment={moment}
        previous={previous}
        animate={previous !== undefined}
        choices={query.has("choices") ? choicesOf(moment, record.moments[index + 1]) : undefined}
        raised={
          query.has("raised")
            ? [
                { seat: 0, tower: { number: 1 } },
                { seat: 1, tower: { number: 2 } },
              ]
            : undefined
        }
        aside={query.has("aside") ? <div class="card">What happened, in words.</div> : undefined}
      />
      {query.has("steps") && (
        <button
          type="button"
          onClick={() => {
            setPrevious(moment);
            setIndex(index + 1);
          }}
        >
          Step
        </button>
      )}
    </main>
  );
}

/** Draws every moment of the match; returns the times in milliseconds, layout included. */
function bench(record: MatchRecord): number[] {
  const place = document.createElement("div");
  document.body.append(place);
  const times = record.moments.map((moment, i) => {
    const started = performance.now();
    const previous = record.moments[i - 1];
    render(<Board setting={record.setting} moment={moment} previous={previous} animate />, place);
    place.getBoundingClientRect();
    return performance.now() - started;
  });
  render(null, place);
  place.remove();
  return times.slice(1);
}

const theme = query.get("theme");
if (theme !== null) document.documentElement.dataset["theme"] = theme;
const tongue = LANGUAGES.find((one) => one === query.get("language"));
if (tongue !== undefined) language.value = tongue;

const viewer = viewerOf(query.get("viewer") ?? "everybody");
const open = await load(query.get("match") ?? "richest-4");
const record = recordOf(restrictView(open, viewer));
Object.assign(window, { bench: () => bench(record) });
const root = document.getElementById("page");
if (root !== null) render(<Gallery record={record} />, root);
