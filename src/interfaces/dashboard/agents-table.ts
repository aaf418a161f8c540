import { agentColumns } from "../../foundation/contracts/agent-columns.ts";
import { agentGroups } from "./browser/agent-filter.ts";
import type { AgentGroup } from "./browser/agent-filter.ts";
import { sortWords } from "./browser/agent-order.ts";
import type { SortBy } from "./browser/agent-order.ts";
import { html } from "./html.ts";
import type { Html } from "./html.ts";

const titles = agentColumns.flatMap(({ title, isLiveOnly }) => (isLiveOnly ? [] : [title]));

/** Which columns sort the table. */
const sortOfColumn: Readonly<Record<string, SortBy>> = {
  Agent: "name",
  State: "errors",
  "Last Run": "last-run",
  Duration: "duration",
  "Next Run": "next-run",
  "Cost Today": "cost",
};

/** The words of a state's chip come after its count. */
const stateWords: Readonly<Record<AgentGroup | "", string>> = {
  "": "agents",
  error: "in error",
  running: "running",
  idle: "idle",
  disabled: "disabled",
  building: "building",
  blocked: "blocked",
};

/** The filter and the order of the agents, which the address holds. */
export const agentFilters = html`<div class="agent-filters" id="agent-filters" hidden>
  <div class="chips" id="agent-states" role="group" aria-label="State">
    ${stateChip("")} ${agentGroups.map(stateChip)}
  </div>
  <div class="end">
    <select class="filter" id="agent-tag" aria-label="Tag" hidden></select>
    <select class="filter" id="agent-sort" aria-label="Sort by">
      ${Object.entries(sortWords).map(
        ([by, words]) => html`<option value="${by}">${by === "name" ? "By name" : words}</option>`,
      )}
    </select>
    <input
      class="filter"
      type="search"
      id="agent-filter"
      placeholder="Filter agents"
      aria-label="Filter agents by name, tag, state or trigger"
    />
  </div>
</div>`;

/** The place of the rows. */
export const agentsTable = html`<section aria-label="Agents" class="panel" id="table">
  <table role="table" class="agents">
    <thead role="rowgroup">
      <tr role="row">
        <th role="columnheader" scope="col" class="select">
          <span class="visually-hidden">Selected</span>
          <input type="checkbox" id="select-all" aria-label="Select all shown agents" />
        </th>
        ${[...titles, "Actions"].map(
          (column) =>
            html`<th role="columnheader" scope="col" class="${cellClass(column)}">
              ${columnTitle(column)}
            </th>`,
        )}
      </tr>
    </thead>
    <tbody role="rowgroup" id="agents"></tbody>
  </table>
  <p class="muted none-match" id="more-agents" role="status" hidden></p>
  <p class="muted none-match" id="none-match" role="status" hidden>
    No agent matches the filter.
    <button type="button" class="link" id="agent-all">Show all</button>
  </p>
</section>`;

/** What is done with the agents that are selected, at the lower edge of the screen. */
export const bulkActions = html`<section class="bulk" id="bulk" aria-label="Selected agents" hidden>
    <span id="bulk-count" role="status"></span>
    <div class="end" id="bulk-actions" role="group" aria-label="Do with all of them">
      <button class="button acts" type="button" data-action="run">Run …</button>
      <button class="button acts" type="button" data-action="disable">Disable …</button>
      <button class="button acts" type="button" data-action="enable">Enable …</button>
      <button class="button" type="button" id="bulk-clear">Clear</button>
    </div>
  </section>
  <dialog id="bulk-dialog" aria-labelledby="bulk-title">
    <h2 id="bulk-title"></h2>
    <p id="bulk-names"></p>
    <div id="bulk-left-out" hidden>
      <p class="muted">Left out:</p>
      <ul class="muted" id="bulk-left"></ul>
    </div>
    <div class="end">
      <button class="button" type="button" id="bulk-cancel">Cancel</button>
      <button class="button primary acts" type="button" id="bulk-confirm"></button>
    </div>
  </dialog>`;

function stateChip(state: AgentGroup | ""): Html {
  return html`<button
    type="button"
    class="chip ${state}"
    data-state="${state}"
    aria-pressed="false"
  >
    <b>0</b> ${stateWords[state]}
  </button>`;
}

function columnTitle(column: string): Html {
  const sort = sortOfColumn[column];
  return sort === undefined
    ? html`${column}`
    : html`<span class="column-name">${column}</span
        ><button type="button" data-sort="${sort}">${column}</button>`;
}

function cellClass(column: string): string {
  return column.toLowerCase().replace(" ", "-");
}
