import { deliveryStates } from "../../foundation/contracts/alert.ts";
import { html } from "./html.ts";
import type { Html } from "./html.ts";
import type { Page } from "./layout.ts";
import { pager, select } from "./list-parts.ts";
import { frameStyles, site } from "./site.ts";

/** What is wrong now, the targets of alerts, and what became of each alert on its way to them. */
export function alertsPage(): Page {
  return {
    title: "Alerts · Almanac",
    styles: [...frameStyles, "history", "list", "alerts"],
    script: "alerts",
    body: site({
      current: "alerts",
      main: html`
        <div class="page-title">
          <h1>Alerts</h1>
          <span class="muted" id="total" role="status"></span>
        </div>
        <p class="notice error lines" id="off" role="status" hidden></p>
        ${part(
          "open",
          "Open",
          ["What", "Agent", "Since", "Count", "Why"],
          html`<p class="muted none" id="open-none" hidden>Nothing is wrong now.</p>`,
        )}
        ${part(
          "targets",
          "Targets",
          ["Target", "State", "Waiting", "Dead", "Last error", ""],
          noTargets,
        )}
        ${part(
          "deliveries",
          "Deliveries",
          ["Time", "Alert", "Target", "State", "Last error", ""],
          html`<p class="muted none" id="deliveries-none" role="status" hidden></p>`,
          filters,
        )}
        ${pager("Pages of the deliveries")}
      `,
    }),
  };
}

/** A table with its title, what stands above it, and what stands in its place while it is empty. */
function part(
  id: string,
  title: string,
  columns: readonly string[],
  empty: Html,
  above: Html | null = null,
): Html {
  return html`<section class="panel alert-part" id="${id}-part" aria-labelledby="${id}-title">
    <div class="panel-head"><h2 id="${id}-title">${title}</h2></div>
    ${above}
    <div class="scroll">
      <table class="history ${id}" id="${id}-table" hidden>
        <thead>
          <tr>
            ${columns.map((name) => html`<th scope="col">${name === "" ? action : name}</th>`)}
          </tr>
        </thead>
        <tbody id="${id}"></tbody>
      </table>
    </div>
    ${empty}
  </section>`;
}

const action = html`<span class="visually-hidden">Action</span>`;

const noTargets = html`<div class="muted none" id="targets-none" hidden>
  <p>
    The project has no target yet: alerts are shown here only. A target needs a credential with its
    address
  </p>
  <pre tabindex="0" aria-label="Command">al creds add slack_webhook</pre>
  <p>and a table in the project’s <code>config.toml</code>:</p>
  <pre tabindex="0" aria-label="Lines of config.toml">
[alerts.ops]
type = "slack"</pre>
</div>`;

const filters = html`<form class="filters" id="filters" aria-label="Filter the deliveries">
  ${select({ name: "state", label: "State", any: "Any" }, deliveryStates)}
  <label
    >Target
    <input class="filter" name="target" list="target-names" autocomplete="off" />
  </label>
  <datalist id="target-names"></datalist>
  <button class="link" type="reset" id="all">Clear filters</button>
  <button class="button acts end" type="button" id="retry-all" hidden></button>
</form>`;
