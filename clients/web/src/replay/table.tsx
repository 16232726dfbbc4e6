/** The board: stand-in until it arrives. */

import type { Tower } from "asara/gen/vocabulary_pb.js";
import type { MatchSetting, Moment } from "../match/model.js";
import type { PlacedTower } from "./scoring.js";

export interface BoardProps {
  readonly setting: MatchSetting;
  readonly moment: Moment;
  readonly previous: Moment | undefined;
  readonly animate: boolean;
  readonly raised: readonly PlacedTower[] | undefined;
}

export function Board({ moment }: BoardProps) {
  const { year, turnSeat, seats } = moment.table.publicView;
  return (
    <pre>
      {JSON.stringify({ year, turnSeat, prestige: seats.map(({ prestige }) => prestige) }, null, 1)}
    </pre>
  );
}

export function TowerIcon({ tower }: { tower: Tower }) {
  return <i>{tower.number}</i>;
}
