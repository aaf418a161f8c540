import { html } from "./html.ts";
import { mark } from "./layout.ts";
import type { Page } from "./layout.ts";

/** The live log of one agent, or of one run of it. Its lines come over the log stream. */
export function logPage(agent: string): Page {
  const isAgent = agent !== "scheduler";
  return {
    title: `${agent} · log · Almanac`,
    styles: ["log", "log-row"],
    script: "log",
    body: html`
      <div class="log-page">
        <header>
          <a class="back" href="/dashboard" aria-label="All agents">${mark}</a>
          <h1>
            ${isAgent ? html`<a href="/dashboard/agents/${agent}">${agent}</a>` : html`${agent}`}
            <span class="muted">log</span>
          </h1>
          <span class="connection" id="connection" role="status">
            <span class="dot"></span><span id="connection-text">Connecting</span>
          </span>
          <nav aria-label="Pages">
            <a href="/dashboard">Agents</a>
            <a href="/dashboard/triggers${isAgent ? `?agent=${agent}` : ""}">Triggers</a>
            <a href="/logout">Logout</a>
          </nav>
        </header>
        ${toolbar(agent, isAgent)}
        <main>
          <p class="muted" id="log-empty" role="status">
            No lines yet. They appear here as the ${isAgent ? "agent runs" : "scheduler works"}.
          </p>
          <div
            id="log"
            role="log"
            aria-live="off"
            aria-label="Log of ${agent}"
            tabindex="0"
            data-agent="${agent}"
          ></div>
          <button class="button primary" type="button" id="jump" hidden>Jump to the newest</button>
        </main>
      </div>
    `,
  };
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
      <select class="field" id="level">
        <option value="10">All levels</option>
        <option value="30">Info and above</option>
        <option value="40">Warnings and errors</option>
        <option value="50">Errors</option>
      </select>
    </label>
    <input
      class="field"
      type="search"
      id="text-filter"
      placeholder="Filter lines"
      aria-label="Show only lines with this text"
    />
    <span class="muted" id="hidden-count" role="status"></span>
    <div class="end">
      <a class="button" id="earlier" hidden>Earlier lines</a>
      <button class="button" type="button" id="wrap" aria-pressed="true">Wrap</button>
      <button class="button" type="button" id="raw" aria-pressed="false">Raw</button>
      <a
        class="button"
        id="download"
        download
        href="/dashboard/api/logs/${agent}/download"
        title="The last 5,000 lines as they were written, one JSON object each"
        >Download</a
      >
      <button class="button" type="button" id="clear">Clear</button>
      <button class="button" type="button" id="follow" aria-pressed="true">Following</button>
    </div>
  </div>`;
}
