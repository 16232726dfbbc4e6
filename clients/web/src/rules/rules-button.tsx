/** A button that opens the rules, which are loaded when they are first wanted. */

import { useState } from "preact/hooks";
import { IconButton } from "../ui/icons.js";
import { t } from "../words/language.js";
import { common } from "../words/sections/common.js";
import type { RulesProps } from "./rules.js";

type Props = Omit<RulesProps, "close">;

/** True while the rules are open; the component shows them, once `open` has been called. */
export function useRules(props: Props | undefined) {
  const [Rules, setRules] = useState<typeof import("./rules.js").Rules>();
  const [shown, setShown] = useState(false);
  const open = async () => {
    const module = await import("./rules.js").catch(() => undefined); // the server may be gone
    if (module === undefined) return;
    setRules(() => module.Rules);
    setShown(true);
  };
  const dialog = shown && Rules !== undefined && props !== undefined && (
    <Rules {...props} close={() => setShown(false)} />
  );
  return { open: () => void open(), dialog };
}

export function RulesButton(props: Props) {
  const { open, dialog } = useRules(props);
  return (
    <>
      <IconButton glyph="rules" label={t(common, "rules")} onClick={open} />
      {dialog}
    </>
  );
}
