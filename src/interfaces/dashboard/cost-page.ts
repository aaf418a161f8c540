import { html } from "./html.ts";
import type { Html } from "./html.ts";
import type { Page } from "./layout.ts";
import { frameStyles, site } from "./site.ts";

/** What runs spend on models: now, by day, by agent and by model, against which limits, and in a month to come. */
export function costPage(): Page {
  return {
    title: "Cost · Almanac",
    styles: [...frameStyles, "overview", "history", "cost"],
    script: "cost",
    body: site({
      current: "cost",
      main: html`
        <div class="page-title">
          <h1>Cost</h1>
          <span class="muted" id="period"></span>
        </div>
        <p class="notice warning" id="unpriced" role="status" hidden></p>
        <dl class="figures" id="figures">${figures}</dl>
        <div class="cost-parts" id="parts" hidden>
          <section class="panel cost-part wide" aria-labelledby="days-title">
            <h2 id="days-title">By day</h2>
            <div id="days"></div>
          </section>
          ${tablePart("agents", "By agent", ["Agent", ...amounts])}
          ${tablePart("models", "By model", ["Model", ...amounts])}
          ${tablePart("limits", "Limits", ["Of", "In", "Spent", "Limit"], "wide")}
        </div>
        ${emptyState}
      `,
    }),
  };
}

const amounts = ["Cost", "Calls", "Tokens"];

/** The page's largest numbers; a note below each says what it means. */
const figures = [
  ["today", "Today"],
  ["month", "This month so far"],
  ["reserved", "Reserved now"],
  ["forecast", "Forecast of a month"],
].map(
  ([id = "", title = ""]) =>
    html`<div class="panel figure">
      <dt class="muted">${title}</dt>
      <dd id="${id}">–</dd>
      <dd class="muted note" id="${id}-note"></dd>
    </div>`,
);

function tablePart(id: string, title: string, columns: readonly string[], size = ""): Html {
  return html`<section class="panel cost-part ${size}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    <div class="scroll">
      <table class="history">
        <thead>
          <tr>
            ${columns.map((name) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody id="${id}"></tbody>
      </table>
    </div>
  </section>`;
}

const emptyState = html`<section class="panel empty" id="empty" hidden>
  <h2>Nothing spent yet</h2>
  <p class="muted">
    No run asked a model in the last 30 days. What runs spend appears here while they run, and
    <code>al cost</code> prints it.
  </p>
</section>`;
