import { html } from "./html.ts";
import type { Html } from "./html.ts";
import { mark } from "./layout.ts";

/** A page within the dashboard's frame. */
export interface SitePage {
  /** Which of the pages the reader is on. */
  readonly current: "agents" | "triggers" | "cost" | "alerts" | null;
  /** More buttons of the header. */
  readonly actions?: Html;
  readonly main: Html;
}

/** Styles of the frame. */
export const frameStyles = ["site", "parts", "stale", "toast"];

const pages = [
  ["agents", "/dashboard", "Agents"],
  ["triggers", "/dashboard/triggers", "Triggers"],
  ["cost", "/dashboard/cost", "Cost"],
  ["alerts", "/dashboard/alerts", "Alerts"],
] as const;

/** The frame: where one is, the state of the connection, errors and warnings of the project, and the way out. */
export function site({ current, actions, main }: SitePage): Html {
  return html`
    <a class="skip" href="#main">Skip to the content</a>
    <header class="site">
      <a class="brand" href="/dashboard">${mark}<span id="project">Almanac</span></a>
      <nav class="pages" aria-label="Pages">
        ${pages.map(([id, path, name]) => pageLink(path, name, id === current))}
      </nav>
      <div class="site-end">
        <span class="connection" id="connection" role="status">
          <span class="dot"></span><span id="connection-text">Connecting</span>
        </span>
        ${actions ?? null}
        <a class="button" href="/logout">Logout</a>
      </div>
    </header>
    <main id="main">
      <p class="notice warning" id="lost" role="status" hidden></p>
      <p class="notice error" id="config-error" role="status" hidden></p>
      <p class="notice warning lines" id="config-warnings" role="status" hidden></p>
      ${main}
    </main>
    <footer class="muted" id="version"></footer>
    <div id="toasts" role="alert"></div>
    <div id="announcer" class="visually-hidden" role="status"></div>
  `;
}

function pageLink(path: string, name: string, isCurrent: boolean): Html {
  const content = html`${name} ${name === "Alerts" ? alertCount : null}`;
  return isCurrent
    ? html`<a href="${path}" aria-current="page">${content}</a>`
    : html`<a href="${path}">${content}</a>`;
}

const alertCount = html`<span class="alert-count" id="alert-count" hidden
  ><span id="alert-count-text"></span
  ><span class="visually-hidden"> open or undelivered</span></span
>`;
