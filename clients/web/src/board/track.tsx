/** The years as lanterns, and the prestige of all seats on one line. */

import type { PublicView } from "asara/gen/view_pb.js";
import { t } from "../words/language.js";
import { board } from "../words/sections/board.js";
import { pointsText, texts } from "../words/vocabulary.js";
import { Lantern } from "./icons.js";
import { seatLabel } from "./names.js";
import { SeatBadge } from "./pieces.js";

export interface TrackProps {
  readonly view: PublicView;
  readonly years: number;
  readonly entries: readonly string[];
}

export function Track({ view, years, entries }: TrackProps) {
  const most = Math.max(...view.seats.map((seat) => seat.prestige));
  const end = Math.max(50, Math.ceil((most + 1) / 25) * 25);
  // Seats with equal prestige stand side by side.
  const below = new Map<number, number>();
  return (
    <div class="track-row">
      <div class="years" role="img" aria-label={t(texts, "year", { year: view.year, years })}>
        {Array.from({ length: years }, (_, i) => (
          <Lantern key={i} year={i + 1} lit={i < view.year} />
        ))}
      </div>
      <div class="track" role="group" aria-label={t(board, "track")}>
        <span class="rail" />
        {Array.from({ length: end / 25 + 1 }, (_, i) => (
          <span key={i} class="tick" style={{ left: `${(i * 2500) / end}%` }}>
            {i * 25}
          </span>
        ))}
        {view.seats.map(({ seat, prestige }) => {
          const level = below.get(prestige) ?? 0;
          below.set(prestige, level + 1);
          return (
            <span
              key={seat}
              class="runner"
              style={{
                left: `${(prestige * 100) / end}%`,
                marginLeft: `${level * 15}px`,
                zIndex: `${9 - level}`,
              }}
              role="img"
              aria-label={`${seatLabel(seat, entries[seat] ?? "")}: ${pointsText(prestige)}`}
            >
              <SeatBadge seat={seat} name={entries[seat] ?? ""} size={20} />
            </span>
          );
        })}
      </div>
    </div>
  );
}
