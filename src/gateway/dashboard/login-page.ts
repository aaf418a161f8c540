import { css, html } from "./html.ts";
import { cardStyles, mark } from "./layout.ts";
import type { Page } from "./layout.ts";

/** Why a person sees the page again: an error of theirs, or a warning of what happened meanwhile. */
export interface LoginMessage {
  readonly kind: "error" | "warning";
  readonly text: string;
}

/** The login page. `next` is where to go afterwards, already made safe. */
export function loginPage(options: {
  readonly keyPath: string;
  readonly next: string;
  readonly message: LoginMessage | null;
}): Page {
  const { keyPath, next, message } = options;
  return {
    title: "Log in · Almanac",
    styles: [cardStyles, loginStyles],
    body: html`<main class="card-page">
      <form class="card" method="post" action="/login">
        ${mark}
        <h1>Log in to Almanac</h1>
        <p class="muted">Paste the gateway’s API key.</p>
        ${
          message === null
            ? null
            : html`<p class="notice ${message.kind}" role="alert" id="message">${message.text}</p>`
        }
        <input type="hidden" name="next" value="${next}" />
        <input type="text" name="username" value="almanac" autocomplete="username" hidden />
        <label for="key">API key</label>
        <input
          id="key"
          name="key"
          type="password"
          required
          autofocus
          autocomplete="current-password"
          spellcheck="false"
          aria-describedby="${message === null ? "hint" : "message hint"}"
        />
        <button class="button primary" type="submit">Log in</button>
        <p class="muted hint" id="hint">
          It is stored in <code>${keyPath}</code> on the machine that runs the scheduler;
          <code>al doctor --show-key</code> prints it.
        </p>
      </form>
    </main>`,
  };
}

const loginStyles = css`
  .card .notice {
    margin-top: 1.1rem;
  }
  .card label {
    display: block;
    font-size: 0.87rem;
    font-weight: 600;
    margin: 1.25rem 0 0.35rem;
  }
  .card input[type="password"] {
    width: 100%;
    font: 0.95rem var(--mono);
    color: inherit;
    background: var(--page);
    border: 1px solid var(--line);
    border-radius: 8px;
    padding: 0.6rem 0.75rem;
  }
  .card .button {
    width: 100%;
    padding: 0.65rem;
    font-size: 0.95rem;
    margin-top: 0.9rem;
  }
  .card .hint {
    font-size: 0.85rem;
    margin-top: 1.25rem;
  }
`;
