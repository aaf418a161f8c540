import type { HttpProblem } from "../gateway/problem.ts";
import { html } from "./html.ts";
import { mark } from "./layout.ts";
import type { Page } from "./layout.ts";

/** Why a person sees the page again: an error of theirs, or a warning of what happened meanwhile. */
export interface LoginMessage {
  readonly kind: "error" | "warning";
  readonly text: string;
}

/**
 * The login page. `next` is where to go afterwards, already made safe; `remember` is the name by which the browser may
 * know the private host.
 */
export function loginPage(options: {
  readonly keyPath: string;
  readonly next: string;
  readonly message: LoginMessage | null;
  readonly remember: string;
}): Page {
  const { keyPath, next, message, remember } = options;
  return {
    title: "Log in · Almanac",
    styles: ["card"],
    script: "private-host",
    shortcuts: false,
    body: html`<main class="card-page" data-remember="${remember}">
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
          <code>al doctor --show-key</code> prints it. Without it: <code>al open</code> there makes
          a link that logs in.
        </p>
      </form>
    </main>`,
  };
}

/** Where the script of the opening page goes on to, and by which name the browser remembers the host. */
interface Move {
  readonly host: string;
  readonly path: string;
  readonly remember: string;
}

/** What a browser shows for a moment after a login, on its way to `home`. */
export function openingPage(home: string, move: Move | null = null): Page {
  const { host, path, remember } = move ?? { host: null, path: null, remember: null };
  return {
    title: "Opening the dashboard · Almanac",
    styles: ["card"],
    ...(move === null ? {} : { script: "private-host", shortcuts: false }),
    body: html`<main
      class="card-page"
      data-host="${host}"
      data-path="${path}"
      data-remember="${remember}"
    >
      <div class="card">
        ${mark}
        <h1>Opening the dashboard …</h1>
        <p class="after"><a href="${home}">Open it now</a></p>
      </div>
    </main>`,
  };
}

/** The page in place of one that can't be shown. */
export function errorPage(problem: HttpProblem): Page {
  const title = problem.status === 404 ? "Nothing here" : "Something went wrong";
  return {
    title: `${title} · Almanac`,
    styles: ["card"],
    body: html`<main class="card-page">
      <div class="card">
        ${mark}
        <h1>${title}</h1>
        <p class="muted">${problem.message}</p>
        <p class="after"><a href="/dashboard">Back to the dashboard</a></p>
      </div>
    </main>`,
  };
}
