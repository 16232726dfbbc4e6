/** The table at one moment. */

import { RuleSet } from "asara/gen/vocabulary_pb.js";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MatchSetting, Moment } from "../match/model.js";
import { animateMoment, freshPlaces } from "./animation.js";
import "./board.css";
import { t } from "../words/language.js";
import { texts } from "../words/vocabulary.js";
import { lightTargets, moveFocus } from "./choosing.js";
import { City } from "./city.js";
import { Stall, type StallProps } from "./market.js";
import { Searched, Skyline, type SkylineProps, towerScale } from "./skyline.js";
import { areaStates } from "./table.js";
import type { BoardChoices } from "./targets.js";
import { Track } from "./track.js";

export interface RaisedTower {
  readonly seat: number;
  readonly tower: { readonly number: number };
}

export interface BoardProps {
  readonly setting: MatchSetting;
  readonly moment: Moment;
  /** The moment shown before, from which changes are animated. */
  readonly previous?: Moment | undefined;
  readonly animate?: boolean;
  readonly choices?: BoardChoices | undefined;
  /** Seat whose skyline a phone shows first; that of the lit seat otherwise. */
  readonly focusSeat?: number | undefined;
  /** Seat that is lit; the one to move otherwise. */
  readonly litSeat?: number | undefined;
  /** Towers to raise in the final evaluation; all others are lowered. */
  readonly raised?: readonly RaisedTower[] | undefined;
  /** Targets of an action that would have been better. */
  readonly better?: ReadonlySet<string> | undefined;
  /** Third column on wide screens, below the city on others: sentences, decisions. */
  readonly aside?: ComponentChildren;
}

const NARROW = 560;

export function Board({
  setting,
  moment,
  previous,
  animate = true,
  choices,
  focusSeat,
  litSeat,
  raised,
  better,
  aside,
}: BoardProps) {
  const root = useRef<HTMLDivElement>(null);
  const narrow = useNarrow(root);
  const [open, setOpen] = useState(false);
  const view = moment.table.publicView;
  const areas = areaStates(setting, moment.table);
  const rules = new Set(setting.ruleSets);
  const scale = towerScale(view.seats);
  const turn = litSeat ?? view.turnSeat;
  const searching = searchedPile(moment);
  const targets = [...(choices?.actions.keys() ?? []), ...(better ?? [])];
  const needed = searching !== 0 || targets.some(inMarket);
  const stallsShown = !narrow || open || needed;

  useLayoutEffect(() => {
    if (root.current !== null) lightTargets(root.current, choices, better);
  });
  useLayoutEffect(() => {
    if (root.current === null) return;
    freshPlaces(root.current, moment);
    if (animate && previous !== undefined) animateMoment(root.current, previous, moment);
  }, [moment]);
  const shown = focusSeat ?? turn;
  useEffect(() => {
    const strip = root.current?.querySelector(".skylines");
    const first = strip?.firstElementChild;
    const card = strip?.children[shown];
    if (narrow && first instanceof HTMLElement && card instanceof HTMLElement) {
      strip?.scrollTo({ left: card.offsetLeft - first.offsetLeft });
    }
  }, [narrow, shown]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: clicks and keys reach the targets inside
    <div
      ref={root}
      class={`board${choices === undefined ? "" : " choosing"}${aside === undefined ? "" : " with-aside"}`}
      onClick={(event) => choose(event.target, choices)}
      onKeyDown={(event) => {
        if (choices === undefined || root.current === null) return;
        const chosen = event.key === "Enter" || event.key === " ";
        if (chosen ? choose(event.target, choices) : moveFocus(root.current, event.key)) {
          event.preventDefault();
        }
      }}
    >
      <div class="table">
        <div class={`skylines of-${view.seats.length}`} tabIndex={narrow ? 0 : undefined}>
          {view.seats.map((seat) => (
            <SkylineMemo
              key={seat.seat}
              seat={seat}
              name={setting.entries[seat.seat] ?? ""}
              mine={moment.table.privateViews[seat.seat]}
              active={seat.seat === turn}
              patron={seat.seat === view.patronageSeat}
              forfeit={moment.table.forfeits[seat.seat] ?? 0}
              scale={scale}
              litWindows={rules.has(RuleSet.PROFESSIONAL)}
              plot={
                seat.seat === turn &&
                (targets.includes("plot") || choices?.chosen.has("plot") === true)
              }
              raised={raised && towersOf(raised, seat.seat)}
            />
          ))}
        </div>
        <Track view={view} years={setting.edition.years} entries={setting.entries} />
        <div class="stalls">
          {narrow && (
            <button
              type="button"
              class="fold"
              aria-expanded={stallsShown}
              onClick={() => setOpen(!open)}
            >
              {t(texts, "markets")}
            </button>
          )}
          {stallsShown &&
            view.markets.map((market) => (
              <StallMemo
                key={market.kind}
                market={market}
                area={areas.get(market.kind as number)}
                setting={setting}
                searching={searching === market.kind}
                searched={searching === market.kind ? searchedSections(moment) : []}
              />
            ))}
        </div>
        <div class="town">
          <City setting={setting} view={view} areas={areas} narrow={narrow} />
          {moment.table.privateViews.map(
            (mine) => mine !== undefined && <Searched key={mine.seat} mine={mine} />,
          )}
        </div>
        {aside !== undefined && <div class="aside">{aside}</div>}
      </div>
      <div class="overlay" aria-hidden="true" />
    </div>
  );
}

const inMarket = (target: string): boolean => /^(display|searched|pile|space [1-4]) /.test(target);

/** Chooses the target that an element belongs to; false if it belongs to none. */
export function choose(element: EventTarget | null, choices: BoardChoices | undefined): boolean {
  if (choices === undefined || !(element instanceof Element)) return false;
  const target = element.closest("[data-target]")?.getAttribute("data-target");
  if (!target) return false;
  if (choices.actions.has(target) || choices.chosen.has(target)) choices.choose(target);
  else choices.refuse(target);
  return true;
}

function searchedSections(moment: Moment) {
  return moment.table.privateViews.flatMap((mine) => mine?.searchedSections ?? []);
}

/** Kind of the pile that is being searched after the moment, 0 if there is none. */
function searchedPile(moment: Moment): number {
  const [seen] = searchedSections(moment);
  if (seen !== undefined) return seen.kind;
  const last = moment.events.findLast(
    ({ event }) => event.case !== "seatForfeited" && event.case !== undefined,
  );
  return last?.event.case === "pileSearched" ? last.event.value.kind : 0;
}

const towersOf = (raised: readonly RaisedTower[], seat: number): ReadonlySet<number> =>
  new Set(raised.filter((one) => one.seat === seat).map(({ tower }) => tower.number));

/** True while the board is as narrow as a phone. */
function useNarrow(root: { readonly current: HTMLElement | null }): boolean {
  const [narrow, setNarrow] = useState(
    () => typeof matchMedia !== "undefined" && matchMedia(`(max-width: ${NARROW}px)`).matches,
  );
  useLayoutEffect(() => {
    const element = root.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setNarrow(element.clientWidth <= NARROW));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return narrow;
}

// A moment changes a part or two: the others are not drawn again.

const alike = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

const numbers = (set: ReadonlySet<number> | undefined) => set && [...set].join();

function sameSkyline(one: SkylineProps, other: SkylineProps): boolean {
  return (
    one.active === other.active &&
    one.patron === other.patron &&
    one.forfeit === other.forfeit &&
    one.scale === other.scale &&
    one.name === other.name &&
    one.plot === other.plot &&
    one.litWindows === other.litWindows &&
    numbers(one.raised) === numbers(other.raised) &&
    alike(one.seat, other.seat) &&
    alike(one.mine, other.mine)
  );
}

function sameStall(one: StallProps, other: StallProps): boolean {
  return (
    one.searching === other.searching &&
    one.setting === other.setting &&
    one.area?.key === other.area?.key &&
    alike(one.market, other.market) &&
    alike(one.searched, other.searched)
  );
}

const SkylineMemo = memo(Skyline, sameSkyline);
const StallMemo = memo(Stall, sameStall);
