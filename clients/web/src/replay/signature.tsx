/** The signature of the match's file: the result of checking it here, and what that means. */

import { useEffect, useState } from "preact/hooks";
import type { Verdict } from "../match/verify.js";
import { isolate, t } from "../words/language.js";
import { replay } from "../words/sections/replay.js";
import type { Signature } from "./source.js";
import type { MatchStore } from "./store.js";

type Checked =
  | { readonly kind: "part" }
  | { readonly kind: "unavailable"; readonly reason: string }
  | { readonly kind: "verdict"; readonly verdict: Verdict; readonly runKey: boolean };

/** The whole file is checked, whatever part of it the viewer sees. */
export function SignatureNote({ store }: { store: MatchStore }) {
  const over = store.source.state.value.kind === "over";
  const [open, setOpen] = useState(false);
  const [checked, setChecked] = useState<Checked>();
  useEffect(() => {
    if (!over || !open) return undefined;
    let current = true;
    check(store).then(
      (found) => current && setChecked(found),
      (error: Error) => current && setChecked({ kind: "unavailable", reason: error.message }),
    );
    return () => {
      current = false;
    };
  }, [store, over, open]);
  if (!over) return null;
  return (
    <details class="signature" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t(replay, "signature")}</summary>
      {checked === undefined ? (
        <p role="status">{t(replay, "checking")}</p>
      ) : (
        <Result checked={checked} store={store} />
      )}
    </details>
  );
}

async function check({ source }: MatchStore): Promise<Checked> {
  const signature: Signature | undefined = await source.signature();
  if (signature === undefined || signature.kind === "part") return { kind: "part" };
  const { file, shown, runKey } = signature;
  const { verifyReplay } = await import("../match/verify.js"); // seldom needed
  const verdict = await verifyReplay(file, shown, runKey);
  return { kind: "verdict", verdict, runKey: runKey !== undefined };
}

function Result({ checked, store }: { checked: Checked; store: MatchStore }) {
  if (checked.kind === "part") {
    const { viewer, entries } = store.record.value.setting;
    const text =
      viewer.kind === "seat"
        ? t(replay, "seatSignature", { name: isolate(entries[viewer.seat] ?? "") })
        : t(replay, "viewSignature");
    return <p role="status">{text}</p>;
  }
  if (checked.kind === "unavailable") {
    return <p role="status">{t(replay, "noSignature", { reason: checked.reason })}</p>;
  }
  const { verdict } = checked;
  const sound = verdict.kind === "sound";
  return (
    <div role="status">
      <p class={sound ? "sound" : "forfeit"}>{verdictText(verdict, checked.runKey)}</p>
      {verdict.kind !== "broken" && (
        <p class="quiet">{t(replay, "key", { fingerprint: verdict.key })}</p>
      )}
    </div>
  );
}

function verdictText(verdict: Verdict, runKey: boolean): string {
  switch (verdict.kind) {
    case "sound":
      return t(replay, runKey ? "runKey" : "someKey");
    case "broken":
      return t(replay, "brokenFile", { reason: verdict.reason });
    case "forged":
      return t(replay, "forged");
    case "other-key":
      return t(replay, "otherKey", { fingerprint: verdict.expected });
    case "different":
      return t(replay, "otherMatch", { reason: verdict.reason });
    case "unsupported":
      return t(replay, "noEd25519");
  }
}
