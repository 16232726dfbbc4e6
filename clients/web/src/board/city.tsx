/** The city: the palace in its building circle, and the areas round it. */

import type { PublicView } from "asara/gen/view_pb.js";
import { Area, type LitWindowOffer } from "asara/gen/vocabulary_pb.js";
import type { JSX } from "preact";
import { memo } from "preact/compat";
import type { MatchSetting } from "../match/model.js";
import { areaSentence } from "../words/explain.js";
import { t } from "../words/language.js";
import { seatName } from "../words/sentences.js";
import { areaName, texts } from "../words/vocabulary.js";
import { House, Palace } from "./houses.js";
import { areaLabel, areaRules, offerLabel, supplyLabel } from "./names.js";
import { BuyerShape, SeatShape } from "./pieces.js";
import { Banner, SpaceShape } from "./space.js";
import { type AreaState, type SpaceState, type Supply, supplies } from "./table.js";

export interface CityProps {
  readonly setting: MatchSetting;
  readonly view: PublicView;
  readonly areas: ReadonlyMap<Area, AreaState>;
  readonly narrow: boolean;
}

const LEFT = [Area.BANK, Area.COLOURED_BUILDING, Area.HOUSE_OF_SPIES];
const RIGHT = [Area.TENT, Area.HOUSE_OF_LIGHTED_WINDOWS, Area.HOUSE_OF_THE_BOTTLE_GENIE];
const PANEL = { width: 180, height: 138 };

interface Placed {
  readonly area: Area;
  readonly x: number;
  readonly y: number;
}

interface Plan {
  readonly width: number;
  readonly height: number;
  readonly circle: { readonly x: number; readonly y: number };
  readonly supplies: { readonly x: number; readonly y: number; readonly plate?: boolean };
  readonly panels: readonly Placed[];
}

/** Where everything lies: three columns, or on a narrow screen the circle above two columns. */
export function plan(areas: ReadonlySet<Area>, narrow: boolean): Plan {
  const right = RIGHT.filter((area) => areas.has(area));
  const left = LEFT.filter((area) => areas.has(area));
  // The basic rules have nothing on the right: one area crosses over.
  if (right.length === 0) right.push(...left.splice(2));
  if (narrow) {
    const all = [...left, ...right].sort((one, other) => one - other);
    const panels = all.map((area, i) => ({
      area,
      x: (i % 2) * 184 + (all.length % 2 === 1 && i === all.length - 1 ? 92 : 0),
      y: 396 + (i >> 1) * 146,
    }));
    const height = 392 + Math.ceil(all.length / 2) * 146;
    return { width: 364, height, circle: { x: 182, y: 186 }, supplies: { x: 182, y: 364 }, panels };
  }
  const height = right.length < 2 ? 400 : 452;
  const column = (list: readonly Area[], x: number): Placed[] =>
    list.map((area, i) => ({
      area,
      x,
      y: (height * (2 * i + 1)) / (2 * Math.max(2, list.length)) - PANEL.height / 2,
    }));
  return {
    width: 690,
    height,
    circle: { x: 345, y: right.length < 2 ? 210 : 188 },
    supplies: right.length < 2 ? { x: 594, y: (height * 3) / 4, plate: true } : { x: 345, y: 400 },
    panels: [...column(left, 6), ...column(right, 504)],
  };
}

export function City({ setting, view, areas, narrow }: CityProps) {
  const { width, height, circle, supplies, panels } = plan(new Set(areas.keys()), narrow);
  return (
    <svg class="city" viewBox={`0 0 ${width} ${height}`} role="group" aria-label={t(texts, "city")}>
      <CircleMemo
        setting={setting}
        areas={areas}
        x={circle.x}
        y={circle.y}
        patron={view.patronageSeat}
      />
      {panels.map(({ area, x, y }) => {
        const state = areas.get(area);
        return (
          state !== undefined && (
            <g key={area} transform={`translate(${x} ${y})`}>
              <DistrictMemo state={state} setting={setting} />
            </g>
          )
        );
      })}
      <Supplies setting={setting} view={view} {...supplies} />
    </svg>
  );
}

const FITS = 22;

/** The name of an area, in two lines if it is long. */
function Title({ name, x, y }: { readonly name: string; readonly x: number; readonly y: number }) {
  if (name.length <= FITS) {
    return (
      <text class="title" x={x} y={y}>
        {name}
      </text>
    );
  }
  const words = name.split(" ");
  const lines = ["", ""];
  for (const word of words) {
    const line = lines[1] === "" && `${lines[0]} ${word}`.length <= FITS ? 0 : 1;
    lines[line] = `${lines[line]} ${word}`.trim();
  }
  return (
    <text class="title long" x={x} y={y - 2}>
      {lines[0]}
      <tspan x={x} dy="15">
        {lines[1]}
      </tspan>
    </text>
  );
}

function District({
  state,
  setting,
}: {
  readonly state: AreaState;
  readonly setting: MatchSetting;
}) {
  const { area, spaces, colour } = state;
  const name = areaName(area);
  const many = area === Area.COLOURED_BUILDING;
  const lit = area === Area.HOUSE_OF_LIGHTED_WINDOWS;
  // The smoke of the genie rises to the second line of a long name.
  const scale = lit ? 0.86 : area === Area.HOUSE_OF_THE_BOTTLE_GENIE ? 0.82 : 1;
  return (
    <g class="district" role="group" aria-label={areaLabel(state)} data-place={`area ${area}`}>
      <rect class="plate" width={PANEL.width} height={PANEL.height} rx="10" />
      <Title name={name} x={10} y={19} />
      <g transform={`translate(${lit ? 46 : 90} 90) scale(${scale})`}>
        <title>{areaRules(state, setting)}</title>
        <House area={area} />
      </g>
      {!many && <Banner colour={colour} x={160} y={30} />}
      {lit &&
        setting.edition.litWindowOffers.map((offer, i) => (
          <Offer key={i} offer={offer} x={116} y={50 + i * 26} />
        ))}
      {many ? (
        <Crowd state={spaces[0]} setting={setting} />
      ) : (
        spaces.map((space, i) => (
          <SpaceShape
            key={i}
            state={space}
            setting={setting}
            x={90 + (i - (spaces.length - 1) / 2) * 42}
            y={114}
            text={printed(space)}
            kind={space.info.cost > 0 ? "cost" : "income"}
          />
        ))
      )}
    </g>
  );
}

/** What is printed on a space: its cost or its income. */
function printed({ info }: SpaceState): string {
  if (info.cost > 0) return `−${info.cost}`;
  return info.income > 0 ? `+${info.income}` : "";
}

/** Prices and windows of an offer: pay, draw some, keep some. */
function Offer({
  offer,
  x,
  y,
}: {
  readonly offer: LitWindowOffer;
  readonly x: number;
  readonly y: number;
}) {
  const name = offerLabel(offer);
  return (
    <g
      class="offer"
      transform={`translate(${x} ${y})`}
      data-target={`offer ${offer.asari}`}
      role="img"
      aria-label={name}
    >
      <title>{name}</title>
      <rect class="halo" x="-29" y="-11" width="58" height="22" rx="6" />
      <text x="-24" y="5">
        −{offer.asari}
      </text>
      <text class="quiet" x="25" y="5">
        {offer.kept}/{offer.drawn}
      </text>
    </g>
  );
}

/** The coloured building takes any number of buyers: they stand in rows. */
function Crowd({
  state,
  setting,
}: {
  readonly state: SpaceState | undefined;
  readonly setting: MatchSetting;
}) {
  if (state === undefined) return null;
  const { dispatched } = state;
  const shown = dispatched.slice(-14);
  return (
    <g>
      <SpaceShape
        state={{ ...state, known: [] }}
        setting={setting}
        empty
        x={26}
        y={114}
        text={printed(state)}
        kind="income"
      />
      <g data-place={`crowd ${state.space.area}`}>
        {shown.map((laid, i) => (
          <g key={i} transform={`translate(${55 + (i % 7) * 17} ${i < 7 ? 104 : 125}) scale(.78)`}>
            <g class="token">
              <BuyerShape colour={0} seat={laid.seat} />
            </g>
          </g>
        ))}
      </g>
      {dispatched.length > shown.length && (
        <text class="quiet" x="170" y="100">
          {dispatched.length}
        </text>
      )}
    </g>
  );
}

const RADIUS = 128;

function Circle({
  setting,
  areas,
  x,
  y,
  patron,
}: {
  readonly setting: MatchSetting;
  readonly areas: ReadonlyMap<Area, AreaState>;
  readonly x: number;
  readonly y: number;
  readonly patron: number;
}) {
  const circle = areas.get(Area.BUILDING_CIRCLE);
  const patronage = areas.get(Area.CALIPHS_PATRONAGE)?.spaces[0];
  const name = areaName(Area.BUILDING_CIRCLE);
  const plots = circle?.spaces ?? [];
  const patronLabel = t(texts, "patronage", { who: seatName(patron, setting) });
  return (
    <g
      transform={`translate(${x} ${y})`}
      role="group"
      aria-label={circle === undefined ? "" : areaLabel(circle)}
    >
      <g class="dimmable">
        <circle class="road" r={RADIUS} />
        <circle class="court" r={RADIUS - 23} />
        <circle class="thin" r={RADIUS - 23} />
        <circle class="thin" r={RADIUS + 23} />
      </g>
      <g transform="translate(0 48) scale(1.18)">
        <title>{areaSentence(Area.BUILDING_CIRCLE, setting)}</title>
        <Palace />
      </g>
      <Banner colour={circle?.colour ?? 0} x={0} y={-RADIUS - 54} />
      {plots.map((plot, i) => {
        const turn = ((i - (plots.length - 1) / 2) * 2 * Math.PI) / (plots.length + 1.2);
        return (
          <SpaceShape
            key={i}
            state={plot}
            setting={setting}
            x={Math.round(Math.sin(turn) * RADIUS)}
            y={Math.round(-Math.cos(turn) * RADIUS)}
            text={`${plot.space.number}`}
            kind="plot"
            radius={19}
          />
        );
      })}
      {patronage !== undefined && (
        <g transform="translate(0 78)">
          <SpaceShape
            state={patronage}
            setting={setting}
            x={-20}
            y={0}
            kind="patronage"
            radius={15}
          />
          <g transform="translate(20 0)" role="img" aria-label={patronLabel}>
            <title>{patronLabel}</title>
            <path class="crown-sign" d="M-14 11v-22l7 8l7-12l7 12l7-8v22z" />
            <g transform="translate(0 6) scale(.8)">
              <SeatShape seat={patron} />
            </g>
          </g>
        </g>
      )}
      <text class={name.length > FITS ? "title long centred" : "title centred"} y={RADIUS}>
        {name}
      </text>
    </g>
  );
}

const SIGNS: Readonly<Record<Supply, JSX.Element>> = {
  buyers: <path class="figure" d="M-.5 -9a4 4 0 1 1-.1 0zM-7.5 9q0-9 7-9t7 9z" />,
  lit: <path class="opening lit" d="M-5 9v-10q0-4 5-7q5 3 5 7v10z" />,
  gifts: <path class="figure" d="M-8 -3h16v11h-16zM-8 -5q8-5 16 0zM-2 -3v11h4v-11z" />,
};

/** Face-down stacks: buyers, lit windows, gift cards. */
function Supplies({
  setting,
  view,
  x,
  y,
  plate = false,
}: {
  readonly setting: MatchSetting;
  readonly view: PublicView;
  readonly plate?: boolean;
  readonly x: number;
  readonly y: number;
}) {
  const stacks = supplies(setting, view);
  return (
    <g transform={`translate(${x} ${y})`}>
      {plate && <rect class="plate" x="-90" y="-36" width="180" height="72" rx="10" />}
      {stacks.map(([kind, count], i) => {
        const name = supplyLabel(kind, count);
        return (
          <g
            key={kind}
            class={count === 0 ? "supply empty" : "supply"}
            transform={`translate(${(i - (stacks.length - 1) / 2) * 74} 0)`}
            data-place={`supply ${kind}`}
            role="img"
            aria-label={name}
          >
            <title>{name}</title>
            <rect class="tile" x="-24" y="-12" width="22" height="28" rx="4" />
            <rect class="tile" x="-27" y="-15" width="22" height="28" rx="4" />
            <g transform="translate(-16 -1)">{SIGNS[kind]}</g>
            <text class="number" x="15" y="7">
              {count}
            </text>
          </g>
        );
      })}
    </g>
  );
}

const DistrictMemo = memo(
  District,
  (one, other) => one.setting === other.setting && one.state.key === other.state.key,
);

const CircleMemo = memo(
  Circle,
  (one, other) =>
    one.setting === other.setting &&
    one.x === other.x &&
    one.y === other.y &&
    one.patron === other.patron &&
    [Area.BUILDING_CIRCLE, Area.CALIPHS_PATRONAGE].every(
      (area) => one.areas.get(area)?.key === other.areas.get(area)?.key,
    ),
);
