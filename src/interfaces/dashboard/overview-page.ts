import { agentFilters, agentsTable, bulkActions } from "./agents-table.ts";
import { html } from "./html.ts";
import type { Page } from "./layout.ts";
import { frameStyles, site } from "./site.ts";

/** The live overview of all agents. The page holds no data: it all comes over the status stream. */
export function overviewPage(): Page {
  return {
    title: "Almanac",
    styles: [...frameStyles, "overview", "agent-filters", "timeline", "table", "locks"],
    script: "overview",
    body: site({
      current: "agents",
      actions: html`<button class="button acts" type="button" id="pause">Pause</button>`,
      main: html`
        <div class="page-title">
          <h1>Agents</h1>
          <span class="pill" id="scheduler-state" role="status">connecting</span>
          <span class="muted" id="counts"></span>
          <a href="#locks" id="lock-count" hidden></a>
        </div>
        ${agentFilters} ${timeline} ${agentsTable} ${emptyState}
        <section class="panel recent" aria-labelledby="activity-title">
          <h2 id="activity-title">Recent Activity</h2>
          <ol id="activity"></ol>
          <p class="muted" id="activity-empty">Nothing has happened yet.</p>
        </section>
        ${locks} ${bulkActions}
      `,
    }),
  };
}

const spans = [1, 6, 24];

/** The place of the overview's timeline; the browser draws into it. */
const timeline = html`
  <section class="panel timeline" id="timeline" aria-labelledby="timeline-title">
    <div class="panel-head">
      <h2 id="timeline-title">
        <button
          type="button"
          class="timeline-open"
          id="timeline-open"
          aria-controls="timeline-lines"
        >
          Timeline
        </button>
      </h2>
      <span class="muted summary-text" id="timeline-summary"></span>
      <svg
        class="strip"
        id="timeline-strip"
        viewBox="0 0 1000 24"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <path id="timeline-strip-path" d="" />
        <path id="timeline-strip-failed" d="" />
      </svg>
      <div class="choice" id="timeline-hours" role="group" aria-label="Hours shown">
        ${spans.map((hours) => html`<button type="button" data-hours="${hours}">${hours} h</button>`)}
      </div>
    </div>
    <div class="timeline-body" id="timeline-lines" hidden>
      <div class="lane-row busy">
        <span class="lane-label muted" id="timeline-most"></span>
        <svg class="lane" viewBox="0 0 1000 24" preserveAspectRatio="none" aria-hidden="true">
          <path id="timeline-busy-path" d="" />
        </svg>
      </div>
      <ol id="timeline-lanes"></ol>
      <div class="lane-row axis" aria-hidden="true">
        <span class="lane-label"></span>
        <svg class="lane" height="16" id="timeline-axis"></svg>
      </div>
      <p class="muted" id="timeline-empty" hidden>
        No agent ran in these hours. Runs are drawn here as they happen.
      </p>
    </div>
    <div class="timeline-foot" id="timeline-foot" hidden>
      <ul class="legend" aria-label="Legend">
        ${["succeeded", "failed", "killed", "interrupted", "running", "did not start"].map(
          (name) => html`<li class="key-${name.replaceAll(" ", "-")}">${name}</li>`,
        )}
      </ul>
      <button type="button" class="link" id="timeline-more" hidden>Show all</button>
    </div>
  </section>
`;

/** The last of the page: as it comes and goes, nothing else moves. */
const locks = html`<section class="panel locks" id="locks" aria-labelledby="locks-title" hidden>
  <h2 id="locks-title">Locks</h2>
  <ul id="lock-rows"></ul>
  <p class="muted" id="locks-more" hidden></p>
</section>`;

const emptyState = html`<section class="panel empty" id="empty" hidden>
  <h2>No agents yet</h2>
  <p class="muted">
    Create <code>agents/&lt;name&gt;/</code> with a <code>SKILL.md</code> (its instructions) and a
    <code>config.toml</code> (when, and with which model), or let <code>al agent new</code> do it.
    It appears here by itself.
  </p>
</section>`;
