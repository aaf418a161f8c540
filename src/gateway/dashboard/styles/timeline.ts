import { css } from "../html.ts";

/** The overview's timeline, and the colours of runs in every drawing. */
export const timelineStyles = css`
  .timeline {
    padding: 0.95rem 1.25rem 0.85rem;
  }
  .summary-text {
    font-size: 0.87rem;
    min-height: 1.4em;
  }
  .timeline-body {
    position: relative;
    margin-top: 0.6rem;
  }
  #timeline-lanes {
    list-style: none;
    margin: 0;
    padding: 0;
    overflow: hidden auto;
    scrollbar-width: thin;
    height: calc(var(--lanes) * 26px);
  }
  .lane-row {
    display: grid;
    grid-template-columns: 10rem minmax(0, 1fr);
    gap: 0.9rem;
    align-items: center;
  }
  .lane-label {
    font-size: 0.84rem;
    color: var(--text);
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .lane-label.muted {
    font-size: 0.78rem;
    color: var(--muted);
  }
  .lane {
    display: block;
    width: 100%;
  }
  .busy .lane {
    height: 24px;
  }
  .busy path {
    fill: var(--blue-soft);
    stroke: var(--blue);
    stroke-width: 1;
    vector-effect: non-scaling-stroke;
  }
  .lane .grid line {
    stroke: var(--line);
  }
  /* A label at either edge reaches past it; there is room. */
  .axis .lane {
    overflow: visible;
  }
  .axis text {
    font: 11px var(--sans);
    fill: var(--muted);
    text-anchor: middle;
  }
  .bar {
    stroke-width: 2;
    paint-order: stroke;
  }
  .bar.succeeded {
    fill: var(--green);
    stroke: var(--green);
  }
  .bar.failed {
    fill: var(--red);
    stroke: var(--red);
  }
  .bar.killed {
    fill: var(--muted);
    stroke: var(--muted);
  }
  .bar.interrupted {
    fill: var(--yellow);
    stroke: var(--yellow);
  }
  .bar.running {
    fill: var(--blue);
    stroke: var(--blue);
    animation: pulse 1.4s ease-in-out infinite;
  }
  .bar.refused {
    fill: var(--yellow);
    stroke: var(--yellow);
    stroke-width: 1;
  }
  a:hover .bar {
    filter: brightness(1.15);
  }
  #timeline-empty {
    position: absolute;
    inset: 24px 0 16px;
    display: grid;
    place-items: center;
    font-size: 0.9rem;
    background: var(--surface);
  }
  .timeline-foot {
    display: flex;
    flex-wrap: wrap;
    gap: 0.3rem 1rem;
    justify-content: space-between;
    margin-top: 0.5rem;
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    gap: 0.2rem 1.1rem;
    list-style: none;
    margin: 0;
    padding: 0;
    font-size: 0.78rem;
    color: var(--muted);
  }
  .legend li::before {
    content: "";
    display: inline-block;
    width: 0.9rem;
    height: 0.55rem;
    margin-right: 0.4rem;
    border-radius: 2px;
    background: var(--green);
  }
  .legend .key-failed::before {
    background: var(--red);
  }
  .legend .key-killed::before {
    background: var(--muted);
  }
  .legend .key-interrupted::before {
    background: var(--yellow);
  }
  .legend .key-running::before {
    background: var(--blue);
  }
  .legend .key-did-not-start::before {
    width: 3px;
    height: 0.85rem;
    background: var(--yellow);
    vertical-align: -1px;
  }
  @media (max-width: 48rem) {
    .lane-row {
      grid-template-columns: 5.5rem minmax(0, 1fr);
      gap: 0.6rem;
    }
    .timeline {
      padding-inline: 1rem;
    }
  }
`;
