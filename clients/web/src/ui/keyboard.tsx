/** Keys of a page: what they do, and an overlay that lists them. */

import { useEffect, useRef } from "preact/hooks";
import { t } from "../words/language.js";
import { common } from "../words/sections/common.js";
import { replay } from "../words/sections/replay.js";
import "./keyboard.css";
import { singleKeys } from "../settings.js";

export interface Binding {
  /** Keys as `chord` names them; the overlay shows all. */
  readonly keys: readonly string[];
  /** What they do, in words. */
  readonly label: string;
  readonly run: () => void;
}

const SHOWN: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  PageUp: "Page ↑",
  PageDown: "Page ↓",
};

/**
 * Name of the keys pressed together: `Shift+ArrowLeft`, `Space`, `b`, `Shift+b`, `Shift+1`, `?`.
 * undefined if a key is held that belongs to the browser.
 */
function chord(event: KeyboardEvent): string | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return undefined;
  const shift = event.shiftKey ? "Shift+" : "";
  const digit = /^Digit(\d)$/.exec(event.code);
  // With Shift, the key of a digit gives another character on every keyboard.
  if (digit !== null && (/^\d$/.test(event.key) || shift)) return `${shift}${digit[1]}`;
  if (event.key === " ") return `${shift}Space`;
  if (event.key.length > 1) return shift + event.key;
  const lower = event.key.toLowerCase();
  return lower === event.key.toUpperCase() ? event.key : shift + lower;
}

/** True if an element uses the key itself: a text field all keys, a button Space and Enter. */
function uses(target: EventTarget | null, keys: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("dialog[open], select, textarea, [contenteditable], [role=menu]")) return true;
  const field = target.closest("input");
  if (field !== null && !["range", "checkbox"].includes(field.type)) return true;
  if (keys !== "Space" && keys !== "Enter") return false;
  return target.closest("button, a, summary, input[type=checkbox]") !== null;
}

/** Runs the bindings while the component is shown. */
export function useKeys(bindings: readonly Binding[]): void {
  const current = useRef(bindings);
  current.current = bindings;
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      const keys = event.defaultPrevented ? undefined : chord(event);
      if (keys === undefined || uses(event.target, keys)) return;
      const single = keys.length === 1 || /^Shift\+.$/.test(keys);
      if (single && keys !== "?" && !singleKeys.value) return;
      const binding = current.current.find((entry) => entry.keys.includes(keys));
      if (binding === undefined) return;
      event.preventDefault();
      binding.run();
    }
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

function Keys({ keys }: { keys: string }) {
  const parts = keys
    .split("+")
    .map((part) => SHOWN[part] ?? (/^[a-z]$/.test(part) ? part.toUpperCase() : part));
  return (
    <span class="key">
      {(keys === "+" ? ["+"] : parts).map((part) => (
        <kbd key={part}>{part}</kbd>
      ))}
    </span>
  );
}

interface KeyHelpProps {
  readonly bindings: readonly Binding[];
  readonly close: () => void;
}

/** An overlay with all keys; Esc closes it, and the focus returns. */
export function KeyHelp({ bindings, close }: KeyHelpProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} class="key-help" aria-labelledby="key-help-title" onClose={close}>
      <h2 id="key-help-title">{t(replay, "keys")}</h2>
      <dl>
        {bindings.map(({ keys, label }) => (
          <div key={label}>
            <dt>
              {keys.map((key) => (
                <Keys key={key} keys={key} />
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input
          type="checkbox"
          checked={singleKeys.value}
          onChange={(event) => {
            singleKeys.value = event.currentTarget.checked;
          }}
        />
        {t(replay, "singleKeys")}
      </label>
      <button type="button" class="primary" onClick={() => dialog.current?.close()}>
        {t(common, "close")}
      </button>
    </dialog>
  );
}
