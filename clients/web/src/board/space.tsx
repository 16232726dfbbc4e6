/** A space of the board: its number, the buyers on it, its gift cards. */

import { type GiftCard, GiftKind } from "asara/gen/vocabulary_pb.js";
import type { MatchSetting } from "../match/model.js";
import { spaceLabel } from "./names.js";
import { BuyerShape, SectionShape } from "./pieces.js";
import type { SpaceState } from "./table.js";
import { spaceTarget } from "./targets.js";

/** Draws a space round (x, y); `text` is printed on it while it is empty. */
export function SpaceShape({
  state,
  setting,
  x,
  y,
  text = "",
  kind = "",
  radius = 15,
  empty = false,
}: {
  readonly state: SpaceState;
  readonly setting: MatchSetting;
  readonly x: number;
  readonly y: number;
  readonly text?: string;
  readonly kind?: string;
  readonly radius?: number;
  /** True if the buyers stand elsewhere. */
  readonly empty?: boolean;
}) {
  const target = spaceTarget(state.space);
  const label = spaceLabel(state, setting);
  const laid = empty ? undefined : state.dispatched[0];
  return (
    <g transform={`translate(${x} ${y})`}>
      <g
        class={`space ${kind}`}
        data-place={target}
        data-target={target}
        role="img"
        aria-label={label}
      >
        <title>{label}</title>
        <circle class="slot" r={radius} />
        <circle class="halo" r={radius + 3} />
        {laid === undefined ? (
          text !== "" && (
            <text class="slot-text" y="5">
              {text}
            </text>
          )
        ) : (
          <Laid state={state} scale={Math.min(1.18, radius / 14.5)} />
        )}
        {state.cards.length > 0 && (
          // beside what is printed on the space
          <Chest cards={state.cards} x={text === "" ? -13 : -15} y={text === "" ? -15 : -20} />
        )}
      </g>
    </g>
  );
}

/** The buyers on a space, with the number of the seat that dispatched them. */
function Laid({ state, scale }: { readonly state: SpaceState; readonly scale: number }) {
  const laid = state.dispatched[0];
  if (laid === undefined) return null;
  return (
    <g class="token">
      <g transform={`scale(${scale})`}>
        <BuyerShape
          colour={laid.colour}
          seat={laid.seat}
          pair={laid.colour === 0}
          known={state.known.length > 0}
        />
      </g>
      {state.known.map((colour, i) => (
        <g
          key={i}
          transform={`translate(${(i - (state.known.length - 1) / 2) * 12 - 1} -1) scale(.56)`}
        >
          <BuyerShape colour={colour} />
        </g>
      ))}
      <g class={`owner s${laid.seat}`} transform="translate(11 10)">
        <circle r="6.5" />
        <text y="3.5">{laid.seat}</text>
      </g>
    </g>
  );
}

/** Gift cards on a chest space: the card that takes effect first, and how many there are. */
export function Chest({
  cards,
  x,
  y,
}: {
  readonly cards: readonly GiftCard[];
  readonly x: number;
  readonly y: number;
}) {
  const [first] = cards;
  if (first === undefined) return null;
  return (
    <g class="chest" transform={`translate(${x} ${y})`}>
      {cards.length > 1 && <rect class="card" x="-6" y="-13" width="17" height="22" rx="2.5" />}
      <rect class="card" x="-9" y="-10" width="17" height="22" rx="2.5" />
      <Gift card={first} />
      {cards.length > 1 && (
        <text class="times" x="12" y="-5">
          {cards.length}
        </text>
      )}
    </g>
  );
}

function Gift({ card }: { readonly card: GiftCard }) {
  switch (card.kind) {
    case GiftKind.ASARI:
      return (
        <g>
          <circle class="coin" cx="-.5" cy="1" r="7" />
          <text class="coin-text" x="-.5" y="4.5">
            {card.asari}
          </text>
        </g>
      );
    case GiftKind.PRESTIGE:
      return (
        <text class="gift-text" x="-.5" y="5">
          +{card.prestige}
        </text>
      );
    case GiftKind.BUY_SECTION:
      return (
        <g class="plain-piece" transform="translate(-.5 9) scale(.4)">
          <SectionShape kind={card.sectionKind} colour={0} />
        </g>
      );
    case GiftKind.BUY_LIT_WINDOW:
      return (
        <path class="opening lit" transform="translate(-.5 13)" d="M-5 -5v-8q0-4 5-7q5 3 5 7v8z" />
      );
    default:
      return <path class="figure" d="M-.5 -7a3.5 3.5 0 1 1-.1 0zM-6.5 9q0-8 6-8t6 8z" />;
  }
}

/** Banner in the colour that an area demands; bare pole while there is none. */
export function Banner({
  colour,
  x,
  y,
}: {
  readonly colour: number;
  readonly x: number;
  readonly y: number;
}) {
  return (
    <g
      class={colour === 0 ? "banner none" : `banner b${colour}`}
      transform={`translate(${x} ${y})`}
    >
      {colour !== 0 && (
        <>
          <path class="pole" d="M-13 0h26" />
          <path class="cloth" d="M-11 0h22v25l-11-6l-11 6z" />
          <g transform="translate(0 10) scale(.62)">
            <BuyerShape colour={colour} />
          </g>
        </>
      )}
    </g>
  );
}
