/** Small signs beside numbers. */

/** Star of eight points: prestige. */
export const STAR =
  "M0 -9l2.6 2.700h3.700v3.700l2.7 2.600l-2.7 2.600v3.700h-3.700l-2.6 2.700l-2.6-2.700h-3.700v-3.700l-2.7-2.600l2.7-2.600v-3.700h3.700z";

export function StarIcon({ size = 18 }: { readonly size?: number }) {
  return (
    <svg class="sign star" aria-hidden="true" width={size} height={size} viewBox="-10 -10 20 20">
      <path d={STAR} />
    </svg>
  );
}

export function CoinIcon({ size = 18 }: { readonly size?: number }) {
  return (
    <svg class="sign" aria-hidden="true" width={size} height={size} viewBox="-10 -10 20 20">
      <circle class="coin" r="8.5" />
      <circle class="coin-ring" r="5.5" />
    </svg>
  );
}

/** A crown: the Caliph's patronage. */
export function CrownIcon({ label }: { readonly label: string }) {
  return (
    <svg
      class="sign patron"
      role="img"
      aria-label={label}
      width="20"
      height="20"
      viewBox="-10 -10 20 20"
    >
      <title>{label}</title>
      <path d="M-8 7v-11l4 4l4-7l4 7l4-4v11z" />
    </svg>
  );
}

/** A lantern, lit from the beginning of its year. */
export function Lantern({ year, lit }: { readonly year: number; readonly lit: boolean }) {
  return (
    <svg
      class={lit ? "lantern lit" : "lantern"}
      aria-hidden="true"
      width="18"
      height="26"
      viewBox="-9 -14 18 26"
    >
      <path class="hook" d="M0 -14v5" />
      <path class="body" d="M-4 -9h8l3 5v8l-4 6h-6l-4-6v-8z" />
      {lit && <text y="5">{year}</text>}
    </svg>
  );
}

/** A folding screen: what is behind it is hidden from the viewer. */
export function ScreenIcon({
  size = 26,
  label,
}: {
  readonly size?: number;
  readonly label: string;
}) {
  return (
    <svg
      class="sign screen"
      role="img"
      aria-label={label}
      width={size * 1.4}
      height={size}
      viewBox="-21 -15 42 30"
    >
      <title>{label}</title>
      <path d="M-19 -10l12-3v23l-12 3zM-7 -13l13 4v23l-13-4zM6 -9l13-4v23l-13 4z" />
      <path class="lattice" d="M-16.5 -5l7-1.800v6l-7 1.800zM-4 -6l7 2v6l-7-2zM9 -4l7-2v6l-7 2z" />
    </svg>
  );
}
