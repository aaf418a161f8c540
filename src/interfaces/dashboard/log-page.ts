import { agentAddress, logDownloadAddress, triggersAddress } from "./browser/addresses.ts";
import { html } from "./html.ts";
import type { Html } from "./html.ts";
import type { Page } from "./layout.ts";
import { frameStyles, site } from "./site.ts";

/** The live log of one agent, or of one run of it. Its lines come over the log stream. */
export function logPage(agent: string): Page {
  const isAgent = agent !== "scheduler";
  return {
    title: `${agent} · log · Almanac`,
    styles: [...frameStyles, "markdown", "log", "log-row"],
    script: "log",
    body: site({
      current: isAgent ? "agents" : null,
      isBelow: true,
      fillsScreen: true,
      main: html`
        <div class="page-title">
          <h1>
            ${isAgent ? html`<a href="${agentAddress(agent)}">${agent}</a>` : html`${agent}`}
            <span class="muted">log</span>
          </h1>
          ${isAgent ? head(agent) : null}
        </div>
        <p class="notice warning" id="line-gone" role="status" hidden>
          The line of this link is not in the log any more. These are the newest lines.
        </p>
        ${toolbar(agent, isAgent)}
        <div class="log-box">
          <p
            class="muted"
            id="log-empty"
            role="status"
            data-text="No lines yet. They appear here as the ${isAgent ? "agent runs" : "scheduler works"}."
          ></p>
          <div
            id="log"
            role="log"
            aria-live="off"
            aria-label="Log of ${agent}"
            tabindex="0"
            data-agent="${agent}"
          >
            <div class="log-edge" id="older-edge" hidden>
              <button class="button" type="button" id="earlier">Earlier lines</button>
              <span class="muted" id="reached" role="status"></span>
            </div>
            <div id="log-lines"></div>
            <div class="log-edge" id="newer-edge" hidden>
              <button class="button" type="button" id="later">Later lines</button>
            </div>
          </div>
          <button class="button primary" type="button" id="jump" hidden>Jump to the newest</button>
        </div>
      `,
    }),
  };
}

function head(agent: string): Html {
  return html`
    <span class="pill" id="state">…</span>
    <span class="pill off" id="disabled" hidden>disabled</span>
    <span class="muted" id="load"></span>
    <div class="end" role="group" aria-label="Actions">
      <a class="button" href="${triggersAddress(agent)}">Triggers</a>
      <button class="button acts danger" type="button" id="kill" hidden>Kill</button>
      <button class="button acts primary" type="button" id="run">Run</button>
    </div>
  `;
}

function toolbar(agent: string, isAgent: boolean) {
  return html`<div class="toolbar" role="toolbar" aria-label="Log">
    <label ${isAgent ? null : html`hidden`}
      ><span class="visually-hidden">Runs</span>
      <select class="field" id="run-choice">
        <option value="">All runs</option>
      </select>
    </label>
    <label
      ><span class="visually-hidden">Level</span>
      <select class="field" id="level" autocomplete="off">
        <option value="">All levels</option>
        <option value="info">Info and above</option>
        <option value="warn">Warnings and errors</option>
        <option value="error">Errors</option>
      </select>
    </label>
    <input
      class="field"
      type="search"
      id="text-filter"
      placeholder="Filter the whole log"
      aria-label="Show only lines with this text"
      maxlength="1000"
      autocomplete="off"
    />
    <span class="muted" id="time-zone"></span>
    <div class="end">
      <button class="button" type="button" id="wrap" aria-pressed="true">Wrap</button>
      <button class="button" type="button" id="raw" aria-pressed="false">Raw</button>
      <a
        class="button"
        id="download"
        download
        href="${logDownloadAddress(agent)}"
        title="The last 5,000 lines that match, as they were written, one JSON object each"
        >Download</a
      >
      <button class="button" type="button" id="clear">Clear</button>
      <button class="button" type="button" id="follow" aria-pressed="true">Following</button>
    </div>
  </div>`;
}
