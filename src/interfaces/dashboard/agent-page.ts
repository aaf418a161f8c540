import { maxRaiseUsd } from "../../foundation/contracts/spend-options.ts";
import { logAddress, triggersAddress } from "./browser/addresses.ts";
import { html } from "./html.ts";
import type { Html } from "./html.ts";
import type { Page } from "./layout.ts";
import { frameStyles, site } from "./site.ts";

/** Everything about one agent: how it is, what is due, what it did, its config, its instructions. */
export function agentPage(agent: string): Page {
  return {
    title: `${agent} · Almanac`,
    styles: [
      ...frameStyles,
      "timeline",
      "history",
      "calls",
      "agent",
      "changes",
      "instructions",
      "markdown",
    ],
    script: "agent",
    body: site({
      current: "agents",
      isBelow: true,
      main: html`
        <div class="page-title" id="agent" data-agent="${agent}">
          <h1>${agent}</h1>
          <span class="pill" id="state">…</span>
          <span class="pill off" id="disabled" hidden>disabled</span>
          <span class="muted" id="load"></span>
          <div class="end" role="group" aria-label="Actions">${actions(agent)}</div>
        </div>
        <p class="muted" id="description" hidden></p>
        <p class="notice error" id="agent-error" role="status" hidden></p>
        <p class="notice warning" id="used-budget" role="status" hidden>
          <span id="used-budget-text"></span>
          <button type="button" class="link acts raise">Raise …</button>
        </p>
        <p class="notice warning" id="agent-warning" role="status" hidden></p>
        <p class="notice warning" id="gone" role="status" hidden>
          There is no agent ${agent} in the project any more. Its log and its history are kept.
        </p>
        <p class="status-line" id="status-text" hidden></p>
        <div class="columns">
          <div class="column">
            <section class="panel" aria-labelledby="runs-title">
              <div class="panel-head">
                <h2 id="runs-title">Last runs</h2>
                <a class="after" href="${triggersAddress(agent)}">View full history</a>
              </div>
              <div class="charts" id="charts"></div>
              ${runsTable}
            </section>
            ${whyNot} ${instructions}
          </div>
          <div class="column">
            <section class="panel" aria-labelledby="next-title">
              <h2 id="next-title">Next runs</h2>
              <p id="schedule-text"></p>
              <ol class="ticks" id="ticks"></ol>
              <p class="muted" id="ticks-zone" hidden></p>
              <p class="muted" id="ticks-note" hidden></p>
            </section>
            <section class="panel" aria-labelledby="budget-title">
              <div class="panel-head">
                <h2 id="budget-title">Cost</h2>
                <button type="button" class="link after acts raise">Raise budget …</button>
              </div>
              <dl class="facts" id="budget"></dl>
            </section>
            <section class="panel" aria-labelledby="locks-title">
              <h2 id="locks-title">Locks</h2>
              <ul class="claims" id="lock-list"></ul>
              <p class="muted" id="locks-note">No locks held.</p>
            </section>
            <section class="panel" aria-labelledby="hosts-title">
              <div class="panel-head">
                <h2 id="hosts-title">Hosts</h2>
                <span class="muted after" id="hosts-days" hidden></span>
              </div>
              <ul class="claims hosts" id="host-list"></ul>
              <p class="muted" id="hosts-note" hidden></p>
            </section>
            <section class="panel" aria-labelledby="config-title">
              <h2 id="config-title">Active configuration</h2>
              <dl class="facts" id="config"></dl>
            </section>
          </div>
        </div>
        ${promptDialog(agent)} ${raiseDialog} ${allowDialog}
      `,
    }),
  };
}

function actions(agent: string): Html {
  return html`
    <a class="button" href="${logAddress(agent)}">Log</a>
    <button class="button acts danger" type="button" id="kill" hidden>Kill</button>
    <button class="button acts" type="button" id="toggle">Disable</button>
    <button class="button acts" type="button" id="run-with">Run with a prompt …</button>
    <button class="button acts primary" type="button" id="run">Run</button>
  `;
}

const runsTable = html`
  <div class="scroll">
    <table class="history compact" id="runs">
      <thead>
        <tr>
          ${["Started", "Trigger", "Outcome", "Duration", "Tokens", "Cost", "Run"].map(
            (name) => html`<th scope="col">${name}</th>`,
          )}
        </tr>
      </thead>
      <tbody id="run-rows"></tbody>
    </table>
    <p class="muted" id="runs-empty" hidden>No runs yet.</p>
  </div>
`;

const whyNot = html`
  <section class="panel" aria-labelledby="why-title">
    <div class="panel-head">
      <h2 id="why-title">Why not</h2>
      <span class="muted after">what kept it from running in the last 7 days</span>
    </div>
    <ul class="why-now" id="why-now" hidden></ul>
    <ul class="claims why-list" id="why-list"></ul>
    <p class="muted" id="why-note" hidden></p>
  </section>
`;

const instructions = html`
  <section class="panel" aria-labelledby="instructions-title">
    <div class="panel-head">
      <h2 id="instructions-title">Instructions</h2>
      <button type="button" class="link after" id="as-written" aria-pressed="false">
        As written
      </button>
    </div>
    <div class="instructions markdown" id="instructions"></div>
    <pre class="instructions-raw" id="instructions-raw" tabindex="0" hidden></pre>
  </section>
`;

function promptDialog(agent: string): Html {
  return html`<dialog id="prompt-dialog" aria-labelledby="prompt-title">
    <form method="dialog" id="prompt-form">
      <h2 id="prompt-title">Run ${agent}</h2>
      <label for="prompt">Extra instructions for this run</label>
      <textarea id="prompt" rows="6" maxlength="100000"></textarea>
      <div class="end">
        <button class="button" type="button" id="prompt-cancel">Cancel</button>
        <button class="button primary" type="submit">Run</button>
      </div>
    </form>
  </dialog>`;
}

const allowDialog = html`<dialog id="allow-dialog" aria-labelledby="allow-title">
  <h2 id="allow-title"></h2>
  <p>
    This is written to <code id="allow-file"></code> and applies at once, also to runs under way.
  </p>
  <pre class="changes" id="allow-change" tabindex="0"></pre>
  <div class="end">
    <button class="button" type="button" id="allow-cancel">Cancel</button>
    <button class="button primary acts" type="button" id="allow-write">Write it</button>
  </div>
</dialog>`;

const raiseDialog = html`<dialog id="raise-dialog" aria-labelledby="raise-title">
  <form method="dialog" id="raise-form">
    <h2 id="raise-title">Raise the budget</h2>
    <label for="raise-usd">US dollars added to its limits until they reset</label>
    <input
      type="number"
      id="raise-usd"
      min="0.01"
      max="${maxRaiseUsd}"
      step="0.01"
      value="1"
      required
    />
    <div class="end">
      <button class="button" type="button" id="raise-cancel">Cancel</button>
      <button class="button primary" type="submit">Raise</button>
    </div>
  </form>
</dialog>`;
