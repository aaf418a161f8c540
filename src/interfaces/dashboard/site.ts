import { html } from "./html.ts";
import type { Html } from "./html.ts";
import { mark } from "./layout.ts";

/** A page within the dashboard's frame. */
export interface SitePage {
  /** The current page; null for a page outside the header's navigation. */
  readonly current: (typeof pages)[number][0] | null;
  /** True for a page of its own that belongs to `current`. */
  readonly isBelow?: boolean;
  /** False for a page that shows no live data. */
  readonly isLive?: boolean;
  /** True for a page as high as the screen, in which a box scrolls. */
  readonly fillsScreen?: boolean;
  /** More buttons of the header. */
  readonly actions?: Html;
  readonly main: Html;
}

/** Styles of the frame. */
export const frameStyles = ["site", "parts", "dialog", "stale", "toast", "shortcuts"];

/** Each with the letter that leads to it behind a `g`. */
const pages = [
  ["agents", "/dashboard", "Agents", "a"],
  ["search", "/dashboard/search", "Search", "s"],
  ["triggers", "/dashboard/triggers", "Triggers", "t"],
  ["cost", "/dashboard/cost", "Cost", "c"],
  ["alerts", "/dashboard/alerts", "Alerts", "l"],
] as const;

/** The frame: where one is, search, the state of the connection, errors and warnings of the project, and the way out. */
export function site(page: SitePage): Html {
  const { current, isBelow = false, isLive = true, fillsScreen = false, actions, main } = page;
  return html`
    <a class="skip" href="#main">Skip to the content</a>
    <button class="skip button" type="button" id="shortcuts">Keyboard shortcuts</button>
    <header class="site">
      <a class="brand" href="/dashboard">${mark}<span id="project">Almanac</span></a>
      <nav class="pages" aria-label="Pages">
        ${pages.map((page) => pageLink(page, page[0] === current ? currentMark(isBelow) : null))}
      </nav>
      ${current === "search" ? null : searchBox}
      <div class="site-end">
        ${isLive ? connection : null} ${actions ?? null}
        <a class="button" href="/logout">Logout</a>
      </div>
    </header>
    <main id="main" class="${fillsScreen ? "fills-screen" : "page"}">
      <p class="notice warning" id="lost" role="status" hidden></p>
      <p class="notice error" id="config-error" role="status" hidden></p>
      <p class="notice warning lines" id="config-warnings" role="status" hidden></p>
      ${main}
    </main>
    ${fillsScreen ? null : html`<footer class="muted" id="version"></footer>`}
    <div id="toasts" role="alert"></div>
    <div id="announcer" class="visually-hidden" role="status"></div>
  `;
}

const connection = html`<span class="connection" id="connection" role="status">
  <span class="dot"></span><span id="connection-text">Connecting</span>
</span>`;

/** On a phone the link to the page takes its place. */
const searchBox = html`<form class="site-search" role="search" action="/dashboard/search">
  <input
    class="filter"
    type="search"
    name="q"
    id="site-search"
    placeholder="Search all logs"
    aria-label="Search all logs"
    autocomplete="off"
  />
</form>`;

function pageLink([, path, name, letter]: (typeof pages)[number], current: Html | null): Html {
  return html`<a href="${path}" data-letter="${letter}" data-name="${name}" ${current}
    >${name} ${name === "Alerts" ? alertCount : null}</a
  >`;
}

function currentMark(isBelow: boolean): Html {
  return isBelow ? html`aria-current="true"` : html`aria-current="page"`;
}

const alertCount = html`<span class="alert-count" id="alert-count" hidden
  ><span id="alert-count-text"></span
  ><span class="visually-hidden"> open or undelivered</span></span
>`;
