import { css } from "../html.ts";

/** The agents' table; on a narrow screen each row is a card. */
export const tableStyles = css`
  table {
    width: 100%;
    border-collapse: collapse;
    table-layout: fixed;
  }
  thead th {
    font-size: 0.76rem;
    font-weight: 600;
    letter-spacing: 0.03em;
    color: var(--muted);
    text-align: left;
    white-space: nowrap;
    padding: 0.75rem 0.75rem 0.65rem;
  }
  tbody :is(th, td) {
    text-align: left;
    vertical-align: top;
    font-weight: 400;
    border-top: 1px solid var(--line);
    padding: 0.85rem 0.75rem;
  }
  tr > :first-child {
    padding-left: 1.25rem;
  }
  tr > :last-child {
    padding-right: 1.25rem;
  }
  thead .agent {
    width: 22%;
  }
  thead .state {
    width: 10.5rem;
  }
  thead .last-run {
    width: 7rem;
  }
  thead .duration {
    width: 6.8rem;
  }
  thead .next-run {
    width: 6.3rem;
  }
  thead .actions {
    width: 11.7rem;
  }
  .agent-name {
    color: var(--text);
    font-weight: 620;
    overflow-wrap: anywhere;
  }
  .agent-details {
    font-size: 0.82rem;
    margin-left: 0.55rem;
  }
  .sub {
    font-size: 0.82rem;
    color: var(--muted);
    margin-top: 0.15rem;
    overflow-wrap: anywhere;
  }
  td.state .pill {
    margin: 0 0.2rem 0.2rem 0;
  }
  /* Room for two lines: one that comes and goes with each run must not move the rows below. */
  td:is(.state, .status) .cell {
    min-height: 3.1rem;
  }
  .status-text {
    overflow-wrap: anywhere;
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
    line-clamp: 2;
    overflow: hidden;
  }
  .status-text.warning {
    color: var(--yellow);
  }
  .status-text.failing {
    -webkit-line-clamp: 4;
    line-clamp: 4;
    color: var(--red);
  }
  time,
  td.duration {
    font-variant-numeric: tabular-nums;
    white-space: nowrap;
  }
  .actions-group {
    display: flex;
    gap: 0.4rem;
  }
  .actions-group .button:last-child {
    min-width: 4.9rem;
  }
  @media (max-width: 66rem) {
    thead {
      display: block;
      position: absolute;
      width: 1px;
      height: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    table,
    tbody {
      display: block;
    }
    tbody tr {
      display: grid;
      grid-template: "agent agent state" "status status status" "last-run duration next-run" "actions actions actions" / 1fr 1fr 1.15fr;
      gap: 0.7rem 1rem;
      padding: 1.1rem 1.25rem;
    }
    tbody tr + tr {
      border-top: 1px solid var(--line);
    }
    tbody tr > :is(th, td):nth-child(n) {
      border: 0;
      padding: 0;
      min-width: 0;
    }
    tbody th.agent {
      grid-area: agent;
    }
    tbody td.state {
      grid-area: state;
      text-align: right;
    }
    tbody td.status {
      grid-area: status;
    }
    tbody td.actions {
      grid-area: actions;
    }
    /* Over the width of a card most fit in one line, and many cards are to be scrolled. */
    td.status .cell {
      min-height: 1.6rem;
    }
    td.state .cell {
      min-height: 0;
    }
    tbody td.state .pill {
      margin: 0 0 0.2rem 0.2rem;
    }
    /* Why it is disabled may be longer than a third of a phone. */
    tbody td.state .pill.off {
      line-height: 1.2;
      text-align: center;
      text-wrap: balance;
      white-space: normal;
      border-radius: 0.9rem;
      padding: 0.22rem 0.5rem;
    }
    tbody :is(td.last-run, td.duration, td.next-run)::before {
      content: attr(data-label);
      display: block;
      font-size: 0.76rem;
      color: var(--muted);
    }
    .actions-group .button {
      padding: 0.55rem 1rem;
    }
  }
`;
