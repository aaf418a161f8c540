import { css } from "../html.ts";

/** The page of one agent. */
export const agentStyles = css`
  .columns {
    display: grid;
    grid-template-columns: minmax(0, 1fr) 23rem;
    gap: 1.1rem;
    align-items: start;
  }
  .column {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 1.1rem;
  }
  .column .panel {
    padding: 1.05rem 1.25rem 1.2rem;
  }
  .after {
    margin-left: auto;
    font-size: 0.87rem;
  }
  #description {
    margin-top: -0.6rem;
    max-width: 80ch;
    overflow-wrap: anywhere;
  }
  .status-line {
    overflow-wrap: anywhere;
  }
  .status-line::before {
    content: "Says: ";
    color: var(--muted);
  }
  .charts {
    display: grid;
    grid-template-columns: repeat(3, minmax(0, 1fr));
    gap: 1.4rem;
    min-height: 6rem;
    margin: 0.8rem 0 1.1rem;
  }
  .chart {
    margin: 0;
  }
  .chart figcaption {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0 0.55rem;
    font-size: 0.8rem;
    margin-bottom: 0.3rem;
  }
  .chart strong {
    font-size: 1rem;
    font-variant-numeric: tabular-nums;
  }
  .chart .range {
    width: 100%;
    min-height: 1.5em;
    font-size: 0.76rem;
  }
  .chart svg {
    display: block;
    width: 100%;
    border-bottom: 1px solid var(--line);
  }
  .column-bar {
    fill: var(--green);
    opacity: 0.85;
  }
  .column-bar.failed {
    fill: var(--red);
    opacity: 1;
  }
  .column-bar.killed {
    fill: var(--muted);
  }
  .column-bar.interrupted {
    fill: var(--yellow);
  }
  .column-bar:hover {
    opacity: 0.55;
  }
  .ticks {
    list-style: none;
    margin: 0.6rem 0 0;
    padding: 0;
    font-size: 0.9rem;
    font-variant-numeric: tabular-nums;
  }
  .ticks li {
    display: flex;
    justify-content: space-between;
    gap: 1rem;
    padding: 0.22rem 0;
  }
  .ticks li + li {
    border-top: 1px solid var(--line);
  }
  .ticks .muted {
    font-size: 0.84rem;
  }
  .ticks.held time {
    color: var(--muted);
    text-decoration: line-through;
  }
  #runs-empty {
    margin-top: 0.6rem;
    font-size: 0.92rem;
  }
  #schedule-text {
    margin-top: 0.45rem;
    font-size: 0.92rem;
    overflow-wrap: anywhere;
  }
  #schedule-text:empty {
    display: none;
  }
  #ticks-zone,
  #ticks-note {
    font-size: 0.87rem;
    margin-top: 0.5rem;
  }
  .facts {
    display: grid;
    grid-template-columns: 8.2rem minmax(0, 1fr);
    gap: 0.35rem 0.9rem;
    margin: 0.7rem 0 0;
    font-size: 0.88rem;
  }
  .facts dt {
    grid-column: 1;
    color: var(--muted);
  }
  .facts .none {
    grid-column: 1 / -1;
  }
  .facts dd:not(.none) {
    grid-column: 2;
  }
  .facts dd {
    margin: 0;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }
  @media (max-width: 66rem) {
    .columns {
      grid-template-columns: minmax(0, 1fr);
    }
  }
  @media (max-width: 48rem) {
    .charts {
      grid-template-columns: minmax(0, 1fr);
    }
    .column .panel {
      padding-inline: 1rem;
    }
    .compact thead {
      display: block;
      position: absolute;
      width: 1px;
      height: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    .compact tbody tr {
      display: grid;
      grid-template: "outcome time" "by duration" "actions actions" / minmax(0, 1fr) auto;
      gap: 0 0.8rem;
      padding: 0.55rem 0;
    }
    .compact tbody td:nth-child(n) {
      display: block;
      padding: 0;
      white-space: normal;
    }
    .compact tbody tr.details-row {
      display: block;
      border-top: 0;
    }
    .compact tbody tr.details-row td:nth-child(n) {
      color: inherit;
      text-align: left;
    }
    .compact tbody td:is(:nth-child(5), :nth-child(6)) {
      display: none;
    }
    .compact td:nth-child(1) {
      grid-area: time;
      color: var(--muted);
      text-align: right;
    }
    .compact td:nth-child(3) {
      grid-area: outcome;
    }
    .compact td:nth-child(4) {
      text-align: right;
    }
    .compact .run-actions {
      grid-area: actions;
    }
  }
`;
