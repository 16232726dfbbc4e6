/** The skyline of one seat: its towers, its prestige, and what it holds as far as the viewer sees. */

import type { PrivateView, SeatView } from "asara/gen/view_pb.js";
import type { Colour, Section } from "asara/gen/vocabulary_pb.js";
import { isolate, t } from "../words/language.js";
import { board } from "../words/sections/board.js";
import { terminationText } from "../words/sentences.js";
import { towerText } from "../words/table.js";
import {
  asariText,
  buyerColourName,
  capitalised,
  litWindowPhrase,
  pointsText,
  texts,
} from "../words/vocabulary.js";
import { CoinIcon, CrownIcon, ScreenIcon, StarIcon } from "./icons.js";
import { countedName, seatLabel, sectionName } from "./names.js";
import { BuyerIcon, SeatBadge, SectionIcon, TowerShape, towerHeight } from "./pieces.js";
import { counted } from "./table.js";

export const WIDTH = 320;
const GROUND = 210;
const PITCH = 44;

export interface SkylineProps {
  readonly seat: SeatView;
  readonly name: string;
  readonly mine: PrivateView | undefined;
  readonly active: boolean;
  readonly patron: boolean;
  readonly forfeit: number;
  /** Scale of all towers of the table, so that heights compare. */
  readonly scale: number;
  /** True with the professional rules. */
  readonly litWindows: boolean;
  /** True if the seat can found a tower now. */
  readonly plot: boolean;
  /** Numbers of the towers to raise; undefined outside the final evaluation. */
  readonly raised: ReadonlySet<number> | undefined;
}

/** Largest scale at which every tower of the table fits. */
export function towerScale(seats: readonly SeatView[]): number {
  const highest = Math.max(120, ...seats.flatMap((seat) => seat.towers.map(towerHeight)));
  const most = Math.max(1, ...seats.map((seat) => seat.towers.length));
  return Math.min(1.45, 172 / highest, (WIDTH - 8) / (most * PITCH));
}

export function Skyline(props: SkylineProps) {
  const { seat, name, active, patron, forfeit } = props;
  const classes = `skyline s${seat.seat}${active ? " active" : ""}${forfeit ? " forfeited" : ""}`;
  return (
    <section
      class={classes}
      role="group"
      data-seat={seat.seat}
      aria-label={seatLabel(seat.seat, name)}
    >
      <header>
        <SeatBadge seat={seat.seat} name={name} />
        <span class="who" dir="auto">
          {name}
        </span>
        {forfeit !== 0 && <span class="forfeit">{capitalised(terminationText(forfeit))}</span>}
        {patron && <Patron name={name} />}
        <span class="prestige" role="img" aria-label={pointsText(seat.prestige)}>
          <span data-count={`prestige ${seat.seat}`}>{seat.prestige}</span>
          <StarIcon />
        </span>
      </header>
      <Towers {...props} />
      <Holdings {...props} />
    </section>
  );
}

/** Sign of the Caliph's patronage: this seat starts next year. */
function Patron({ name }: { readonly name: string }) {
  const label = t(texts, "patronage", { who: isolate(name) });
  return <CrownIcon label={label} />;
}

function Towers({ seat, scale, active, plot, raised }: SkylineProps) {
  const places = seat.towers.length + (plot ? 1 : 0);
  const at = (i: number) => WIDTH / 2 + (i - (places - 1) / 2) * PITCH * scale;
  return (
    <svg
      class="sky"
      viewBox={`0 0 ${WIDTH} 222`}
      preserveAspectRatio="xMidYMax meet"
      role="group"
      aria-label={t(board, "towers", { count: seat.towers.length })}
    >
      <g class="backdrop">
        <path class="stars" d={STARS[seat.seat % 4] ?? ""} />
        <path class="moon" d="M268 52a17 17 0 1 0 15 25a14 14 0 1 1-15-25z" />
        <path class="far" d={FAR} />
        <path class="ground" d="M-900 210h2120v20h-2120z" />
        <path class="horizon" d="M-900 210h2120" />
      </g>
      {seat.towers.map((tower, i) => {
        const label = towerText(tower);
        const up = raised?.has(tower.number);
        return (
          <g
            key={tower.number}
            class={raised === undefined ? "stand" : up ? "stand raised" : "stand lowered"}
            style={{
              transform: `translate(${at(i)}px, ${up ? GROUND - 10 : GROUND}px) scale(${scale})`,
            }}
            data-target={active ? `tower ${tower.number}` : undefined}
            data-place={`tower ${seat.seat} ${tower.number}`}
            role="img"
            aria-label={label}
          >
            <title>{label}</title>
            <rect
              class="halo"
              x="-21"
              y={-towerHeight(tower) - 4}
              width="42"
              height={towerHeight(tower) + 8}
              rx="7"
            />
            <g class="rise">
              <TowerShape tower={tower} />
            </g>
          </g>
        );
      })}
      {plot && (
        <g
          class="stand plot"
          style={{ transform: `translate(${at(places - 1)}px, ${GROUND}px) scale(${scale})` }}
          data-target="plot"
          role="img"
          aria-label={t(board, "plot")}
        >
          <rect class="halo" x="-19" y="-66" width="38" height="70" rx="7" />
          <path class="dashed" d="M-13 -2v-52h26v52M0 -35v16M-8 -27h16" />
        </g>
      )}
    </svg>
  );
}

/** A calm city far behind, wider than the drawing. */
const FAR = (() => {
  let path = `M-900 ${GROUND}`;
  for (let x = -900, i = 0; x < 1220; i++) {
    const width = 16 + ((i * 37) % 23);
    const height = 9 + ((i * 17) % 26);
    const dome = i % 4 === 1 ? `q${width / 2}-${width * 0.8} ${width} 0` : `h${width}`;
    path += `V${GROUND - height}${dome}`;
    x += width;
  }
  return `${path}V${GROUND}z`;
})();

/** Four patterns of stars: dots, drawn as short round strokes. */
const STARS = [0, 1, 2, 3].map((sky) =>
  Array.from({ length: 90 }, (_, i) => {
    const turn = (i * 7919 + sky * 3571) % 10007;
    return `M${((turn * 31) % 1700) - 690} ${4 + ((turn * 17) % 130)}h0`;
  }).join(""),
);

/** What a seat holds, as far as the viewer sees it. */
export function Holdings({
  seat,
  mine,
  active,
  litWindows,
}: Pick<SkylineProps, "seat" | "mine" | "active" | "litWindows">) {
  return (
    <div class="holdings">
      <div class="row">
        {mine === undefined ? <Backs seat={seat} /> : <Hand mine={mine} active={active} />}
        {mine === undefined ? (
          <ScreenIcon label={t(board, "hidden")} />
        ) : (
          <span
            class="held"
            role="img"
            aria-label={t(texts, "purse", { asari: asariText(mine.asari) })}
          >
            <CoinIcon />
            <span class="count" data-count={`asari ${seat.seat}`}>
              {mine.asari}
            </span>
          </span>
        )}
        {litWindows && mine === undefined && <LitBacks count={seat.litWindows} />}
      </div>
      {mine !== undefined && <Stock mine={mine} active={active} />}
    </div>
  );
}

function Backs({ seat }: { readonly seat: SeatView }) {
  return (
    <span
      class="held"
      role="img"
      aria-label={t(texts, "hand", { buyers: seat.handSize })}
      data-hand={seat.seat}
    >
      <BuyerIcon colour={0} seat={seat.seat} size={22} />
      <span class="count">{seat.handSize}</span>
    </span>
  );
}

function LitBacks({ count }: { readonly count: number }) {
  return (
    <span
      class={count === 0 ? "held none" : "held"}
      role="img"
      aria-label={t(texts, "unbuiltLit", { count })}
    >
      <LitIcon colour={0} />
      <span class="count">{count}</span>
    </span>
  );
}

function LitIcon({ colour }: { readonly colour: Colour }) {
  return (
    <svg class="piece" aria-hidden="true" width="20" height="22" viewBox="-10 -21 20 22">
      <rect class={`lit-frame c${colour}`} x="-8.5" y="-20" width="17" height="20" rx="2.5" />
      <path class="opening lit" d="M-5 -3v-8q0-4 5-6.500q5 2.5 5 6.500v8z" />
    </svg>
  );
}

function Hand({ mine, active }: { readonly mine: PrivateView; readonly active: boolean }) {
  return (
    <span
      class="hand"
      role="group"
      aria-label={t(texts, "hand", { buyers: mine.hand.length })}
      data-hand={mine.seat}
    >
      {counted(mine.hand, String).map(([colour, count]) => (
        <span
          key={colour}
          class="held"
          data-target={active ? `hand ${colour}` : undefined}
          role="img"
          aria-label={countedName(buyerColourName(colour), count)}
        >
          <BuyerIcon colour={colour} size={22} />
          {count > 1 && <span class="count">{count}</span>}
        </span>
      ))}
      {mine.hand.length === 0 && <Backs0 seat={mine.seat} />}
    </span>
  );
}

function Backs0({ seat }: { readonly seat: number }) {
  return (
    <span class="held none">
      <BuyerIcon colour={0} seat={seat} size={22} />
      <span class="count">0</span>
    </span>
  );
}

const sectionKey = ({ kind, colour, gold }: Section): string => `${kind}.${colour}.${gold}`;

/** Unbuilt sections and lit windows behind the seat's screen. */
function Stock({ mine, active }: { readonly mine: PrivateView; readonly active: boolean }) {
  const drawn = mine.searchedLitWindows.length > 0;
  return (
    <div class="row stock" role="group" aria-label={t(board, "unbuilt")} data-stock={mine.seat}>
      {counted(mine.sections, sectionKey).map(([section, count]) => (
        <span
          key={sectionKey(section)}
          class="held"
          role="img"
          aria-label={countedName(sectionName(section), count)}
        >
          <SectionIcon {...section} size={24} />
          {count > 1 && <span class="count">{count}</span>}
        </span>
      ))}
      {counted(mine.litWindows, String).map(([colour, count]) => (
        <span
          key={`lit ${colour}`}
          class="held"
          data-target={active && !drawn ? `lit ${colour}` : undefined}
          role="img"
          aria-label={countedName(litWindowPhrase(colour, { alone: true }), count)}
        >
          <LitIcon colour={colour} />
          {count > 1 && <span class="count">{count}</span>}
        </span>
      ))}
    </div>
  );
}

/** Lit windows or buyers that the seat looks through, to choose from them. */
export function Searched({ mine }: { readonly mine: PrivateView }) {
  const windows = counted(mine.searchedLitWindows, String);
  const buyers = counted(mine.searchedBuyers, String);
  if (windows.length + buyers.length === 0) return null;
  return (
    <div class="tray" role="group" aria-label={t(board, "searched")}>
      {windows.map(([colour, count]) => (
        <span
          key={`lit ${colour}`}
          class="held"
          data-target={`lit ${colour}`}
          role="img"
          aria-label={countedName(litWindowPhrase(colour, { alone: true }), count)}
        >
          <LitIcon colour={colour} />
          {count > 1 && <span class="count">{count}</span>}
        </span>
      ))}
      {buyers.map(([colour, count]) => (
        <span
          key={`buyer ${colour}`}
          class="held"
          data-target={`buyer ${colour}`}
          role="img"
          aria-label={countedName(buyerColourName(colour), count)}
        >
          <BuyerIcon colour={colour} size={24} />
          {count > 1 && <span class="count">{count}</span>}
        </span>
      ))}
    </div>
  );
}
