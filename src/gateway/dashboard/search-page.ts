import { outcomes } from "../../../streams/vocabulary.ts";
import { searchKinds } from "../../contracts/search-kinds.ts";
import { searchKindNames } from "./browser/search-words.ts";
import { html } from "./html.ts";
import type { Page } from "./layout.ts";
import { select } from "./list-parts.ts";
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
  <label>Agent <input class="filter" name="agent" list="agent-names" autocomplete="off" /></label>
  <datalist id="agent-names"></datalist>
  ${select({ name: "outcome", label: "Outcome", any: "Any" }, outcomes)}
  ${select({ name: "kind", label: "Lines", any: "All" }, searchKinds, searchKindNames)}
  <label
    >Time
    <select class="filter" name="since" id="since" aria-label="Time">
      <option value="">Any time</option>
      <option value="1h">Last hour</option>
      <option value="24h">Last day</option>
      <option value="7d">Last week</option>
      <option value="30d">Last 30 days</option>
    </select>
  </label>
  <label
    >Order
    <select class="filter" name="order" aria-label="Order">
      <option value="">Newest first</option>
      <option value="oldest">Oldest first</option>
    </select>
  </label>
  <button class="link" type="reset" id="all">Clear filters</button>
</form>`;
