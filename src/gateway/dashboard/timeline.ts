import { html } from "./html.ts";

const spans = [1, 6, 24];

/** The place of the overview's timeline; the browser draws into it. */
export const timeline = html`
  <section class="panel timeline" id="timeline" aria-labelledby="timeline-title">
    <div class="panel-head">
      <h2 id="timeline-title">Timeline</h2>
      <span class="muted summary-text" id="timeline-summary"></span>
      <div class="choice" id="timeline-hours" role="group" aria-label="Hours shown">
        ${spans.map((hours) => html`<button type="button" data-hours="${hours}">${hours} h</button>`)}
      </div>
    </div>
    <div class="timeline-body">
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
    <div class="timeline-foot">
      <ul class="legend" aria-label="Legend">
        ${["succeeded", "failed", "killed", "interrupted", "running", "did not start"].map(
          (name) => html`<li class="key-${name.replaceAll(" ", "-")}">${name}</li>`,
        )}
      </ul>
      <button type="button" class="link" id="timeline-more" hidden>Show all</button>
    </div>
  </section>
`;
