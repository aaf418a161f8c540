import { outcomes, triggerKinds, triggerNames } from "../../../streams/vocabulary.ts";
import { html } from "./html.ts";
import type { Page } from "./layout.ts";
import { agentField, pager, select } from "./list-parts.ts";
import { frameStyles, site } from "./site.ts";

/** The history of all that asked an agent to run, also of what started nothing, and why. */
export function triggersPage(): Page {
  return {
    title: "Triggers · Almanac",
    styles: [...frameStyles, "history", "list", "calls", "triggers"],
    script: "triggers",
    body: site({
      current: "triggers",
      main: html`
        <div class="page-title">
          <h1>Triggers</h1>
          <span class="muted" id="total" role="status"></span>
          <div class="end">
            <button class="button primary" type="button" id="show-new" hidden></button>
          </div>
        </div>
        ${filters} ${refused}
        <section class="panel" aria-labelledby="history-title">
          <h2 class="visually-hidden" id="history-title">Trigger history</h2>
          <div class="scroll">
            <table class="history" id="triggers">
              <thead>
                <tr>
                  ${["Time", "Trigger", "Agent", "Outcome", "Duration", "Why"].map(
                    (name) => html`<th scope="col">${name}</th>`,
                  )}
                  <th scope="col"><span class="visually-hidden">Details</span></th>
                </tr>
              </thead>
              <tbody id="trigger-rows"></tbody>
            </table>
          </div>
          <p class="muted none" id="none" role="status" hidden></p>
        </section>
        ${pager("Pages of the history")}
      `,
    }),
  };
}

const refused = html`<details class="panel refused" id="refused" hidden>
  <summary id="refused-summary"></summary>
  <p class="muted">
    Nothing of them is stored but their number. Deliveries of one source within ten minutes are one
    row.
  </p>
  <ul class="refused-list" id="refused-list"></ul>
</details>`;

const outcomeNames = { rejected: "rejected, unmatched" };

const spanNames = { 1: "Last hour", 24: "Last day", 168: "Last week" };

const filters = html`<form class="filters" id="filters" aria-label="Filter the history">
  ${agentField}
  ${select({ name: "kind", label: "Trigger", any: "Any" }, triggerKinds, triggerNames)}
  ${select({ name: "outcome", label: "Outcome", any: "Any" }, outcomes, outcomeNames)}
  ${select({ name: "hours", label: "Time", any: "Any time" }, Object.keys(spanNames), spanNames)}
  <label class="toggle"><input type="checkbox" name="dead" /> Dead letters only</label>
  <button class="link" type="reset" id="all">Clear filters</button>
</form>`;
