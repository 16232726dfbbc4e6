/** The pieces of the game: sections, towers, buyers, seats. */

import { SectionKind, type Tower } from "asara/gen/vocabulary_pb.js";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { t } from "../words/language.js";
import { towerText } from "../words/table.js";
import { buyerColourName, texts } from "../words/vocabulary.js";
import { seatLabel, sectionName } from "./names.js";
import {
  BUYER_SHAPES,
  crown,
  HEIGHTS,
  opening,
  outline,
  type SectionLook,
  texture,
} from "./shapes.js";

/** Draws a section that stands on the origin. */
export function SectionShape({ kind, colour, gold = false, lit = false }: SectionLook) {
  const lines = texture(kind, colour);
  return (
    <g class={`section c${colour}`}>
      {lit && <Glow />}
      <path class="body" d={outline(kind)} />
      {lines !== "" && <path class="texture" d={lines} />}
      {opening(kind) !== "" && <path class={lit ? "opening lit" : "opening"} d={opening(kind)} />}
      {lit && <path class="mullion" d="M0 -19v13M-5 -11h10" />}
      {gold && !lit && <path class="gold-crown" d={crown(kind)} />}
    </g>
  );
}

/** Light that falls from a lit window: flat discs, one over the other. */
function Glow() {
  return (
    <g class="glow">
      <circle cy="-12" r="23" />
      <circle cy="-12" r="17" />
    </g>
  );
}

/** Icon of a section, for use in text and lists. */
export function SectionIcon(props: SectionLook & { readonly size?: number }) {
  const height = HEIGHTS[props.kind] ?? 0;
  const size = props.size ?? 24;
  const name = sectionName(props);
  return (
    <svg
      class="piece"
      role="img"
      aria-label={name}
      width={size}
      height={size}
      viewBox={`-22 ${-height / 2 - 24} 44 44`}
    >
      <title>{name}</title>
      <SectionShape {...props} />
    </svg>
  );
}

/** Sections of a tower from the ground; trunks and windows take turns. */
export function towerSections(tower: Tower): SectionLook[] {
  const { colour } = tower;
  const { TRUNK, WINDOW, BASE, TURRET } = SectionKind;
  const windows: SectionLook[] = [];
  for (let i = 0; i < tower.plainWindows; i++) {
    windows.push({ kind: WINDOW, colour, lit: i < tower.litPlainWindows });
  }
  for (let i = 0; i < tower.goldWindows; i++) {
    windows.push({ kind: WINDOW, colour, gold: true, lit: i < tower.litGoldWindows });
  }
  const trunks: SectionLook[] = [];
  for (let i = 0; i < tower.plainTrunks + tower.goldTrunks; i++) {
    trunks.push({ kind: TRUNK, colour, gold: i >= tower.plainTrunks });
  }
  const middle: SectionLook[] = [];
  for (let i = 0; i < Math.max(trunks.length, windows.length); i++) {
    const trunk = trunks[i];
    const window = windows[i];
    if (trunk !== undefined) middle.push(trunk);
    if (window !== undefined) middle.push(window);
  }
  return [
    { kind: BASE, colour, gold: tower.baseGold },
    ...middle,
    { kind: TURRET, colour, gold: tower.turretGold },
  ];
}

/** Height of a tower's drawing. */
export function towerHeight(tower: Tower): number {
  return towerSections(tower).reduce((sum, { kind }) => sum + (HEIGHTS[kind] ?? 0), 0);
}

/** Draws a tower that stands on the origin; crowns last, as they reach into the section above. */
export const TowerShape = memo(
  DrawnTower,
  (one, other) => JSON.stringify(one.tower) === JSON.stringify(other.tower),
);

function DrawnTower({ tower }: { readonly tower: Tower }) {
  const sections: ComponentChildren[] = [];
  const crowns: ComponentChildren[] = [];
  let up = 0;
  for (const [i, section] of towerSections(tower).entries()) {
    const at = `translate(0 ${-up})`;
    sections.push(
      <g key={i} transform={at}>
        <SectionShape {...section} gold={false} />
      </g>,
    );
    if (section.gold && !section.lit) {
      crowns.push(<path key={i} class="gold-crown" transform={at} d={crown(section.kind)} />);
    }
    up += HEIGHTS[section.kind] ?? 0;
  }
  return (
    <g class="tower">
      {sections}
      {crowns}
    </g>
  );
}

/** Icon of a tower, as high as it is. */
export function TowerIcon({ tower, size = 48 }: { readonly tower: Tower; readonly size?: number }) {
  const height = towerHeight(tower) + 6;
  const name = towerText(tower);
  return (
    <svg
      class="piece"
      role="img"
      aria-label={name}
      width={(size * 46) / height}
      height={size}
      viewBox={`-23 ${4 - height} 46 ${height}`}
    >
      <title>{name}</title>
      <TowerShape tower={tower} />
    </svg>
  );
}

/** Draws a face-up buyer round the origin, or the back of face-down buyers of a seat. */
export function BuyerShape({
  colour,
  seat,
  pair = false,
  known = false,
}: {
  readonly colour: number;
  readonly seat?: number | undefined;
  readonly pair?: boolean;
  /** True if the colours are drawn on the backs. */
  readonly known?: boolean;
}) {
  if (colour === 0) {
    return (
      <g class={`back s${seat ?? 0}`}>
        {pair && <rect class="under" x="-6" y="-13" width="16" height="20" rx="4" />}
        <rect x={pair ? -10 : -8} y={pair ? -8 : -10} width="16" height="20" rx="4" />
        {!known && (
          <path class="lattice" d={pair ? "M-2 -4l5 6l-5 6l-5-6z" : "M0 -6l5 6l-5 6l-5-6z"} />
        )}
      </g>
    );
  }
  return (
    <g class={`buyer b${colour}`}>
      <path d={BUYER_SHAPES[colour] ?? ""} />
      <path class="bevel" transform="scale(.62)" d={BUYER_SHAPES[colour] ?? ""} />
    </g>
  );
}

/** Icon of a buyer; colour 0 is a back. */
export function BuyerIcon({
  colour,
  seat,
  size = 20,
}: {
  readonly colour: number;
  readonly seat?: number;
  readonly size?: number;
}) {
  const name = colour === 0 ? t(texts, "faceDown") : buyerColourName(colour);
  return (
    <svg
      class="piece"
      role="img"
      aria-label={name}
      width={size}
      height={size}
      viewBox="-12 -12 24 24"
    >
      <title>{name}</title>
      <BuyerShape colour={colour} seat={seat} />
    </svg>
  );
}

/** Badge of a seat: its hue and its number, with the name of the entry as its title. */
export function SeatBadge({
  seat,
  name = "",
  size = 22,
}: {
  readonly seat: number;
  readonly name?: string;
  readonly size?: number;
}) {
  const label = seatLabel(seat, name);
  return (
    <svg
      class="piece"
      role="img"
      aria-label={label}
      width={size}
      height={size}
      viewBox="-11 -11 22 22"
    >
      <title>{label}</title>
      <SeatShape seat={seat} />
    </svg>
  );
}

/** Draws a seat's pennant round the origin. */
export function SeatShape({ seat }: { readonly seat: number }) {
  return (
    <g class={`seat s${seat}`}>
      <path d="M-9 -10h18v14l-9 6l-9-6z" />
      <text y="3.5">{seat}</text>
    </g>
  );
}
