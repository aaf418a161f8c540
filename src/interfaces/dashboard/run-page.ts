import { agentAddress, logAddress } from "./browser/addresses.ts";
import { html } from "./html.ts";
import type { Html } from "./html.ts";
import { mark } from "./layout.ts";
import type { Page } from "./layout.ts";
import { frameStyles, site } from "./site.ts";

/** Everything about one run: what started it, what came of it, what it used, its log. */
export function runPage(agent: string, instanceId: string): Page {
  return {
    title: `${instanceId} · Almanac`,
    styles: [
      ...frameStyles,
      "calls",
      "agent",
      "changes",
      "instructions",
      "markdown",
      "log-row",
      "run",
    ],
    script: "run",
    body: site({
      current: "agents",
      isBelow: true,
      main: html`
        <div class="page-title" id="run" data-agent="${agent}" data-instance="${instanceId}">
          <h1>${instanceId}</h1>
          <span class="pill" id="state">…</span>
          <span class="muted" id="standing"></span>
          <div class="end" role="group" aria-label="Actions">
            <button class="button acts danger" type="button" id="kill" hidden>Kill</button>
            <a class="button" href="${logAddress(agent, instanceId)}">Whole log</a>
            <button class="button acts primary" type="button" id="again" hidden>Run again …</button>
          </div>
        </div>
        <p class="run-of muted">
          Run of <a href="${agentAddress(agent)}">${agent}</a>
          <span id="first-seen" hidden>· <a>When did this error first appear?</a></span>
        </p>
        <p class="notice error" id="reason" role="status" hidden></p>
        <p class="notice warning" id="gone" role="status" hidden></p>
        <p class="notice" id="again-result" role="status" hidden></p>
        <div class="columns">
          <div class="column">${result} ${trigger} ${calls}</div>
          <div class="column">${facts} ${since} ${hosts}</div>
        </div>
        ${log(instanceId)} ${againDialog(agent)}
      `,
    }),
  };
}

const result = html`<section class="panel" aria-labelledby="result-title">
  <h2 id="result-title">Result</h2>
  <p class="muted" id="result-note">…</p>
  <div id="value"></div>
  <div id="last-words"></div>
</section>`;

const trigger = html`<section class="panel" aria-labelledby="trigger-title">
  <div class="panel-head">
    <h2 id="trigger-title">Trigger</h2>
    <span id="trigger-words"></span>
    <span class="muted after" id="arrived"></span>
  </div>
  <div id="asked"></div>
</section>`;

const calls = html`<section class="panel calls" aria-labelledby="calls-title" id="calls" hidden>
  <h2 id="calls-title">Calls</h2>
  <p id="called-by" hidden></p>
  <div id="calls-made"></div>
</section>`;

const facts = html`<section class="panel" aria-labelledby="facts-title">
  <h2 id="facts-title">Facts</h2>
  <dl class="facts" id="facts"></dl>
</section>`;

const since = html`<section class="panel" aria-labelledby="since-title" id="since" hidden>
  <h2 id="since-title">Since the last success</h2>
  <p id="since-text"></p>
  <details id="since-fold" hidden>
    <summary>What changed</summary>
    <pre class="changes" id="since-changes" tabindex="0" aria-label="What changed"></pre>
  </details>
</section>`;

const hosts = html`<section class="panel" aria-labelledby="hosts-title" id="hosts" hidden>
  <h2 id="hosts-title">Hosts</h2>
  <ul class="claims hosts" id="host-list"></ul>
</section>`;

function log(instanceId: string): Html {
  return html`<section class="panel run-log-panel" aria-labelledby="log-title">
    <div class="panel-head">
      <h2 id="log-title">Log</h2>
      <span class="muted" id="log-note"></span>
    </div>
    <p class="muted" id="log-empty" role="status">Reading the log …</p>
    <div
      id="log"
      class="lines"
      role="log"
      aria-live="off"
      aria-label="Log of ${instanceId}"
      tabindex="0"
      hidden
    ></div>
  </section>`;
}

function againDialog(agent: string): Html {
  return html`<dialog id="again-dialog" aria-labelledby="again-title">
    <form method="dialog" id="again-form">
      <h2 id="again-title">Run ${agent} again</h2>
      <label for="again-text" id="again-label">Prompt</label>
      <textarea
        id="again-text"
        rows="12"
        spellcheck="false"
        aria-describedby="again-note"
      ></textarea>
      <p class="muted" id="again-note" role="status"></p>
      <div class="end">
        <button class="button" type="button" id="again-cancel">Cancel</button>
        <button class="button primary" type="submit" id="again-start">Replay</button>
      </div>
    </form>
  </dialog>`;
}

/** The page in place of a run that is not in the history: of an id with a typing error, or deleted by retention. */
export function missingRunPage(agent: string, instanceId: string): Page {
  return {
    title: "No such run · Almanac",
    styles: ["card"],
    body: html`<main class="card-page">
      <div class="card">
        ${mark}
        <h1>No such run</h1>
        <p class="muted">
          The history has no run <code>${instanceId}</code>. Old runs are deleted from it; the lines
          that a run logged may be there for longer.
        </p>
        <p class="after"><a href="${logAddress(agent, instanceId)}">Look for it in the log</a></p>
        <p class="after"><a href="${agentAddress(agent)}">Runs of ${agent}</a></p>
      </div>
    </main>`,
  };
}
