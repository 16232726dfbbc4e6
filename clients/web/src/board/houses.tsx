/** Pictures of the areas. Each stands on the origin and is about 80 wide and 60 high. */

import { Area } from "asara/gen/vocabulary_pb.js";
import { memo } from "preact/compat";
import { STAR } from "./icons.js";

const arch = (x: number, y: number, w: number, h: number): string =>
  `M${x - w / 2} ${y}v${-h * 0.6}q0 ${-h * 0.25} ${w / 2} ${-h * 0.4}q${w / 2} ${h * 0.15} ${w / 2} ${h * 0.4}v${h * 0.6}z`;

const dome = (x: number, y: number, w: number, h: number): string =>
  `M${x - w / 2} ${y}c${-w * 0.22} ${-h * 0.45} ${w * 0.18} ${-h * 0.62} ${w / 2} ${-h}c${w * 0.32} ${h * 0.38} ${w * 0.72} ${h * 0.55} ${w / 2} ${h}z`;

function Bank() {
  return (
    <>
      <path class="wall" d="M-36 0v-5h72v5zM-32 -32h64v-6h-64z" />
      <path class="wall dark" d="M-30 -5v-27h60v27z" />
      <path class="wall" d="M-28 -5v-27h8v27zM-12 -5v-27h8v27zM4 -5v-27h8v27zM20 -5v-27h8v27z" />
      <path class="roof" d="M-36 -38l36-20l36 20z" />
      <path class="thin" d="M-36 -38l36-20l36 20M-36 -5h72" />
      <circle class="coin" cy="-45" r="6.5" />
    </>
  );
}

function ColouredBuilding() {
  return (
    <>
      <path class="wall" d="M-36 0v-40h72v40z" />
      {[1, 2, 3, 4, 5].map((colour) => (
        <path key={colour} class={`pane b${colour}`} d={arch(-42 + colour * 14, -10, 9, 24)} />
      ))}
      <path class="roof" d="M-39 -40h78v-6h-78zM-20 -46h40v-5h-40z" />
      <path class="roof" d={dome(0, -51, 22, 16)} />
      <path class="thin" d="M-39 -40h78M-36 -7h72" />
    </>
  );
}

function Spies() {
  return (
    <>
      <path class="wall" d="M-26 0v-44l26-12l26 12v44z" />
      <path class="roof" d="M-31 -41l31-16l31 16v-6l-31-16l-31 16z" />
      <path class="door" d={arch(0, 0, 13, 19)} />
      <g class="eye" transform="translate(0 -33)">
        <path d="M-13 0q13-14 26 0q-13 14-26 0z" />
        <circle r="4" />
      </g>
      <path class="thin" d="M-26 -19h14M12 -19h14M-31 -47l31-16l31 16" />
    </>
  );
}

function Tent() {
  return (
    <>
      <path class="wall" d="M0 -54q-12 22-38 28l4 26h68l4-26q-26-6-38-28z" />
      <path
        class="roof"
        d="M0 -54q-6 24-18 31l3 23h-12l-3-24q22-10 30-30zM0 -54q6 24 18 31l-3 23h12l3-24q-22-10-30-30z"
      />
      <path class="door" d="M0 -30l9 30h-18z" />
      <path class="thin" d="M0 -54v-8l12 3.500l-12 3.500M-38 -26q38 8 76 0M-40 0h80" />
    </>
  );
}

function LightedWindows() {
  return (
    <>
      <path class="wall" d="M-34 0v-50h68v50z" />
      <path class="roof" d="M-37 -50h74v-5h-74zM-37 -55l5-5l5 5zM-5 -55l5-5l5 5zM27 -55l5-5l5 5z" />
      <g class="glow">
        <circle cy="-25" r="40" />
        <circle cy="-25" r="31" />
      </g>
      {[-21, 0, 21].map((x) => (
        <g key={x}>
          <path class="opening lit" d={arch(x, -29, 11, 17)} />
          <path class="opening lit" d={arch(x, -6, 11, 17)} />
        </g>
      ))}
      <path class="thin" d="M-34 -26.500h68M-37 -50h74" />
    </>
  );
}

function Genie() {
  return (
    <>
      <path class="smoke" d="M-2 -39c-16-4-20-16-8-20s24 3 17 9s-12-1-8-4" />
      <path
        class="wall"
        d="M-7 -38h14v9q0 6 9 11q8 5 8 11q0 7-8 7h-32q-8 0-8-7q0-6 8-11q9-5 9-11z"
      />
      <path class="roof" d="M-23 -11q23 9 46 0q2 11-7 11h-32q-9 0-7-11z" />
      <path class="thin" d="M-9 -38h18M-7 -31h14M-23 -11q23 9 46 0" />
      <path class="gem" transform="translate(0 -16) scale(.42)" d={STAR} />
    </>
  );
}

/** The palace, about 150 wide and 110 high. */
export const Palace = memo(DrawnPalace);

function DrawnPalace() {
  return (
    <g class="house palace dimmable">
      <path class="wall dark" d="M-58 0v-50h116v50z" />
      <path class="roof" d={dome(-40, -50, 30, 28)} />
      <path class="roof" d={dome(40, -50, 30, 28)} />
      <path class="wall" d="M-30 0v-62h60v62z" />
      <path class="roof bright" d={dome(0, -62, 50, 44)} />
      <path class="wall" d="M-68 0v-72h9v72zM59 0v-72h9v72z" />
      <path class="roof" d={dome(-63.5, -72, 10, 14) + dome(63.5, -72, 10, 14)} />
      <path class="door" d={arch(0, 0, 34, 50)} />
      <path class="opening lit" d={arch(-44, -22, 9, 17) + arch(44, -22, 9, 17)} />
      <path
        class="thin"
        d="M-30 -62h60M-58 -50h28M30 -50h28M0 -106v-10M-68 -58h9M59 -58h9M-72 0h144M-58 -14h28M30 -14h28"
      />
      <circle class="coin" cy="-118" r="3" />
    </g>
  );
}

const HOUSES: Partial<Record<Area, () => unknown>> = {
  [Area.BANK]: Bank,
  [Area.COLOURED_BUILDING]: ColouredBuilding,
  [Area.HOUSE_OF_SPIES]: Spies,
  [Area.TENT]: Tent,
  [Area.HOUSE_OF_LIGHTED_WINDOWS]: LightedWindows,
  [Area.HOUSE_OF_THE_BOTTLE_GENIE]: Genie,
};

export const House = memo(DrawnHouse);

function DrawnHouse({ area }: { readonly area: Area }) {
  const Picture = HOUSES[area] as (() => preact.JSX.Element) | undefined;
  return <g class="house dimmable">{Picture !== undefined && <Picture />}</g>;
}
