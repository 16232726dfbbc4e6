/** Glyphs of the controls, drawn as lines. */

import "./icons.css";

const PATHS = {
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  step: "M9 5l7 7-7 7",
  turn: "M5 5l7 7-7 7M12 5l7 7-7 7",
  year: "M6 5l8 7-8 7M18 5v14",
  end: "M3 5l6 7-6 7M10 5l6 7-6 7M20 5v14",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  keys: "M3 7h18v10H3zM7 11h0M11 11h0M15 11h0M8 14h8",
  list: "M9 5l-6 7 6 7M12 7h9M12 12h9M12 17h9",
  rules: "M12 6c-2-2-5-2-9-2v14c4 0 7 0 9 2 2-2 5-2 9-2V4c-4 0-7 0-9 2zM12 6v14",
  menu: "M4 7h16M4 12h16M4 17h16",
  eye: "M2 12s4-6 10-6 10 6 10 6-4 6-10 6-10-6-10-6zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6",
  hidden: "M2 12s4-6 10-6 10 6 10 6-4 6-10 6-10-6-10-6zM4 20L20 4",
  auto: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  dark: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z",
  light:
    "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2",
  columns: "M4 5h7v14H4zM13 5h7v14h-7z",
} as const;

export type Glyph = keyof typeof PATHS;

export function Icon({ glyph, back = false }: { glyph: Glyph; back?: boolean }) {
  const solid = glyph === "play";
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      width="24"
      height="24"
      aria-hidden="true"
      fill={solid ? "currentColor" : "none"}
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={PATHS[glyph]} transform={back ? "matrix(-1 0 0 1 24 0)" : undefined} />
    </svg>
  );
}

export interface IconButtonProps {
  readonly glyph: Glyph;
  readonly label: string;
  readonly back?: boolean;
  readonly class?: string;
  readonly onClick: () => void;
}

/** A button with a glyph, whose name is shown on hover and told to screen readers. */
export function IconButton({ glyph, label, back = false, onClick, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      class={`glyph ${rest.class ?? ""}`}
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      <Icon glyph={glyph} back={back} />
    </button>
  );
}
