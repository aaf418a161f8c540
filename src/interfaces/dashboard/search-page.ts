import { outcomes } from "../../../streams/vocabulary.ts";
import { searchKinds } from "../../foundation/contracts/search-kinds.ts";
import { searchKindNames } from "./browser/search-words.ts";
import { html } from "./html.ts";
import type { Page } from "./layout.ts";
import { agentField, select } from "./list-parts.ts";
import { frameStyles, site } from "./site.ts";

/** Search over the logs of all agents: the runs with lines that match. */
export function searchPage(): Page {
  return {
    title: "Search · Almanac",
    styles: [...frameStyles, "history", "list", "search"],
    script: "search",
    body: site({
      current: "search",
      main: html`
        <div class="page-title">
          <h1>Search</h1>
          <span class="muted" id="total" role="status"></span>
        </div>
        ${filters}
        <p class="notice error" id="search-error" role="status" hidden></p>
        <p class="notice warning" id="search-behind" role="status" hidden></p>
        <div id="results"></div>
        <p class="muted none" id="none" role="status"></p>
        <nav class="pager" id="search-pager" aria-label="More results" hidden>
          <button class="button" type="button" id="more">More runs</button>
        </nav>
      `,
    }),
  };
}

const sinceNames = {
  "1h": "Last hour",
  "24h": "Last day",
  "7d": "Last week",
  "30d": "Last 30 days",
};
const orderNames = { oldest: "Oldest first" };

const filters = html`<form class="filters" id="filters" role="search" aria-label="Search all logs">
  <label class="words"
    >Words in the log
    <input
      class="filter"
      type="search"
      name="q"
      maxlength="400"
      autocomplete="off"
      spellcheck="false"
      aria-describedby="search-help"
    />
  </label>
  <button class="button primary" type="submit">Search</button>
  <p class="muted" id="search-help">
    All words must be in one line. <code>"in quotes"</code> is a phrase; <code>time*</code> finds
    words that begin so.
  </p>
  ${agentField} ${select({ name: "outcome", label: "Outcome", any: "Any" }, outcomes)}
  ${select({ name: "kind", label: "Lines", any: "All" }, searchKinds, searchKindNames)}
  ${select({ name: "since", label: "Time", any: "Any time" }, Object.keys(sinceNames), sinceNames)}
  ${select({ name: "order", label: "Order", any: "Newest first" }, ["oldest"], orderNames)}
  <button class="link" type="reset" id="all">Clear filters</button>
</form>`;
