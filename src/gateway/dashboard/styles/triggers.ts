import { css } from "../html.ts";

/** The history page. */
export const triggersStyles = css`
  .panel {
    padding: 0.4rem 1.25rem;
  }
  #total {
    font-variant-numeric: tabular-nums;
  }
  .filters {
    display: flex;
    flex-wrap: wrap;
    align-items: end;
    gap: 0.6rem 0.9rem;
    min-height: 3.6rem;
  }
  .filters label {
    display: grid;
    gap: 0.2rem;
    font-size: 0.8rem;
    color: var(--muted);
  }
  .filters .toggle {
    display: flex;
    align-items: center;
    gap: 0.45rem;
    font-size: 0.9rem;
    color: var(--text);
    height: 2.15rem;
  }
  .filters .link {
    height: 2.15rem;
  }
  .filter {
    font: inherit;
    font-size: 0.9rem;
    height: 2.15rem;
    color: var(--text);
    background: var(--surface);
    border: 1px solid var(--line);
    border-radius: 8px;
    padding: 0 0.6rem;
  }
  .history td:nth-child(1) {
    min-width: 5.8rem;
  }
  .history td:nth-child(4) {
    white-space: nowrap;
  }
  .history td:nth-child(4) .pill {
    margin-left: 0.3rem;
    font-size: 0.74rem;
    padding: 0.22rem 0.5rem;
  }
  .history td:nth-child(6) {
    width: 38%;
  }
  .why {
    overflow-wrap: anywhere;
  }
  /* A long name must leave room for the others. */
  .agent-cell {
    display: flex;
    align-items: baseline;
    gap: 0.5rem;
    max-width: 15rem;
  }
  .cut-name {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .agent-cell .run-log {
    font-size: 0.82rem;
  }
  .history .link {
    white-space: nowrap;
  }
  .history tbody tr.details-row {
    border-top: 0;
  }
  .details {
    background: var(--page);
    border: 1px solid var(--line);
    border-radius: 10px;
    padding: 0.9rem 1rem;
    margin-bottom: 0.5rem;
  }
  .entry-facts {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem 1.8rem;
    margin: 0;
    font-size: 0.86rem;
  }
  .entry-facts dt {
    font-size: 0.76rem;
    color: var(--muted);
  }
  .entry-facts dd {
    margin: 0;
    overflow-wrap: anywhere;
  }
  .delivery {
    margin-top: 1rem;
    padding-top: 0.9rem;
    border-top: 1px solid var(--line);
  }
  .delivery h3 {
    font-size: 0.95rem;
    margin: 0 auto 0 0;
  }
  .delivery .muted {
    font-size: 0.86rem;
    margin: 0.3rem 0;
    overflow-wrap: anywhere;
  }
  .delivery summary {
    color: var(--accent);
    cursor: pointer;
    width: fit-content;
    font-size: 0.86rem;
  }
  .replayed {
    margin-top: 0.7rem;
    font-size: 0.9rem;
  }
  .none {
    text-align: center;
    padding: 2.6rem 1rem;
  }
  .pager {
    display: flex;
    align-items: center;
    justify-content: center;
    gap: 0.6rem;
  }
  #place {
    min-width: 5rem;
    text-align: center;
    font-size: 0.88rem;
  }
  @media (max-width: 48rem) {
    .pager {
      gap: 0.4rem;
    }
    #place {
      min-width: 0;
    }
    .history thead {
      display: block;
      position: absolute;
      width: 1px;
      height: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    .history tbody tr {
      display: grid;
      grid-template: "agent outcome" "trigger time" "why why" "more duration" / minmax(0, 1fr) auto;
      gap: 0.1rem 0.8rem;
      padding: 0.65rem 0;
    }
    .history tbody tr:first-child {
      border-top: 0;
    }
    .history tbody tr.details-row {
      display: block;
      padding: 0;
    }
    .history tbody td:nth-child(n) {
      display: block;
      width: auto;
      min-width: 0;
      padding: 0;
    }
    .history tbody td:nth-child(1) {
      grid-area: time;
      color: var(--muted);
      text-align: right;
    }
    .history tbody td:nth-child(2) {
      grid-area: trigger;
    }
    .history tbody td:nth-child(3) {
      grid-area: agent;
      font-weight: 600;
    }
    .history tbody td:nth-child(4) {
      grid-area: outcome;
      text-align: right;
    }
    .history tbody td:nth-child(5) {
      grid-area: duration;
      text-align: right;
    }
    .history tbody td:nth-child(6) {
      grid-area: why;
    }
    .history tbody td:nth-child(7) {
      grid-area: more;
    }
    .history tbody tr.details-row td:nth-child(n) {
      color: inherit;
      text-align: left;
    }
  }
`;
