/** A page that says one thing. */

import { Preferences } from "../replay/header.js";

interface Props {
  readonly title: string;
  readonly text?: string;
  readonly button?: { readonly label: string; readonly press: () => void };
}

export function Message({ title, text, button }: Props) {
  return (
    <div class="play-page">
      <header class="play-head">
        <p>
          <a href="/">ASARA</a>
        </p>
        <div class="choices">
          <Preferences />
        </div>
      </header>
      <main class="play-message">
        <h1 tabIndex={-1}>{title}</h1>
        <output class="unseen">{title}</output>
        {text !== undefined && text !== "" && (
          <p>
            <bdi>{text}</bdi>
          </p>
        )}
        {button !== undefined && (
          <button type="button" class="primary" onClick={button.press}>
            {button.label}
          </button>
        )}
      </main>
    </div>
  );
}
