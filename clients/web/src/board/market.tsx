/** A market as a stall: its display with prices, its pile, its spaces. */

import type { Market } from "asara/gen/view_pb.js";
import { type Edition, type Section, SectionKind } from "asara/gen/vocabulary_pb.js";
import type { MatchSetting } from "../match/model.js";
import { t } from "../words/language.js";
import { asariText, capitalised, kindsName, priceOf, texts } from "../words/vocabulary.js";
import { areaLabel, areaRules, countedName, pileLabel, sectionName } from "./names.js";
import { SectionIcon, SectionShape } from "./pieces.js";
import { Banner, SpaceShape } from "./space.js";
import { type AreaState, counted } from "./table.js";
import { sectionTarget } from "./targets.js";

const STEP = 34;
const LEFT = 24;
const GROUND = 86;

export interface StallProps {
  readonly market: Market;
  readonly area: AreaState | undefined;
  readonly setting: MatchSetting;
  /** True while a seat looks through the pile. */
  readonly searching: boolean;
  /** Contents of the pile, if the viewer sees them. */
  readonly searched: readonly Section[];
}

export function Stall({ market, area, setting, searching, searched }: StallProps) {
  const name = area === undefined ? "" : areaLabel(area);
  return (
    <section class="stall" data-place={`stall ${market.kind}`}>
      <svg viewBox="0 0 360 110" role="group" aria-label={name}>
        <g class="dimmable">
          {area !== undefined && <title>{areaRules(area, setting)}</title>}
          <rect class="plate" x="0.5" y="4" width="359" height="105" rx="9" />
          <path class="awning" d={AWNING} />
          <path class="gold-line" d={`M8 ${GROUND + 0.5}h302`} />
        </g>
        <text class="title" x="12" y="17">
          {capitalised(kindsName(market.kind))}
        </text>
        <Display market={market} edition={setting.edition} />
        <Pile market={market} searching={searching} />
        {area?.spaces.map((state, i) => (
          <SpaceShape key={i} state={state} setting={setting} x={231 + i * 36} y={20} radius={14} />
        ))}
        <Banner colour={area?.colour ?? 0} x={184} y={0} />
      </svg>
      {searched.length > 0 && (
        <div
          class="tray"
          role="group"
          aria-label={t(texts, "searchPile", { kinds: kindsName(market.kind) })}
        >
          {counted(searched, (section) => sectionTarget("searched", section)).map(
            ([section, count]) => {
              const target = sectionTarget("searched", section);
              return (
                <span
                  key={target}
                  class="held"
                  data-target={target}
                  role="img"
                  aria-label={countedName(sectionName(section), count)}
                >
                  <SectionIcon {...section} size={26} />
                  {count > 1 && <span class="count">{count}</span>}
                </span>
              );
            },
          )}
        </div>
      )}
    </section>
  );
}

const AWNING = `M0 8q0-8 8-8h344q8 0 8 8v15${"q-6 7-12 0".repeat(30)}z`;

/** The pieces on the shelf; those of one colour stand together over their price. */
function Display({ market, edition }: { readonly market: Market; readonly edition: Edition }) {
  const groups = counted(market.display, (section) => `${section.colour}`);
  const step = Math.min(STEP, 306 / Math.max(1, market.display.length));
  let place = 0;
  return (
    <g>
      {groups.map(([{ colour }, count]) => {
        const first = place;
        place += count;
        const middle = LEFT + (first + (count - 1) / 2) * step;
        return (
          <g key={colour}>
            {market.display.slice(first, place).map((section, i) => (
              <Piece
                key={i}
                section={section}
                price={priceOf(edition, colour)}
                x={LEFT + (first + i) * step}
              />
            ))}
            <path
              class="price-line"
              d={`M${middle - (count * step) / 2 + 4} 91.5h${count * step - 8}`}
            />
            <text class="price" x={middle} y="104.5">
              {priceOf(edition, colour)}
            </text>
          </g>
        );
      })}
    </g>
  );
}

function Piece({
  section,
  price,
  x,
}: {
  readonly section: Section;
  readonly price: number;
  readonly x: number;
}) {
  const target = sectionTarget("display", section);
  const name = `${sectionName(section)}: ${asariText(price)}`;
  return (
    <g
      class="goods"
      transform={`translate(${x} ${GROUND})`}
      data-target={target}
      data-place={target}
      role="img"
      aria-label={name}
    >
      <title>{name}</title>
      <rect class="halo" x="-16.5" y="-50" width="33" height="53" rx="5" />
      <g transform={section.kind === SectionKind.BASE ? "scale(.84)" : "scale(.94)"}>
        <SectionShape {...section} />
      </g>
    </g>
  );
}

function Pile({ market, searching }: { readonly market: Market; readonly searching: boolean }) {
  const name = pileLabel(market, searching);
  const layers = Math.min(4, Math.ceil(market.pileSize / 3));
  return (
    <g
      class={market.pileSize === 0 ? "pile empty" : "pile"}
      transform="translate(338 86)"
      data-target={`pile ${market.kind}`}
      data-place={`pile ${market.kind}`}
      role="img"
      aria-label={name}
    >
      <title>{name}</title>
      <rect class="halo" x="-20" y="-46" width="40" height="50" rx="6" />
      {Array.from({ length: Math.max(1, layers) }, (_, i) => (
        <rect key={i} class="tile" x="-15" y={-24 - i * 4.5} width="30" height="24" rx="4" />
      ))}
      <text class="number" y={-8 - Math.max(0, layers - 1) * 4.5}>
        {market.pileSize}
      </text>
      {searching && <Eye x={0} y={-46} />}
    </g>
  );
}

/** An eye: somebody looks, and not everybody. */
function Eye({ x, y }: { readonly x: number; readonly y: number }) {
  return (
    <g class="eye" transform={`translate(${x} ${y})`}>
      <path d="M-11 0q11-13 22 0q-11 13-22 0z" />
      <circle r="3.5" />
    </g>
  );
}
