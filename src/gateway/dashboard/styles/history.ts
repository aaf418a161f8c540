import { css } from "../html.ts";

/** Tables of runs and triggers. */
export const historyStyles = css`
  .scroll {
    overflow-x: auto;
  }
  table.history {
    width: 100%;
    border-collapse: collapse;
    font-size: 0.9rem;
  }
  .history :is(th, td) {
    text-align: left;
    vertical-align: top;
    font-weight: 400;
    padding: 0.5rem 0.8rem 0.5rem 0;
  }
  .history thead th {
    font-size: 0.76rem;
    font-weight: 600;
    letter-spacing: 0.03em;
    color: var(--muted);
    white-space: nowrap;
  }
  .history tbody tr {
    border-top: 1px solid var(--line);
  }
  .history time,
  .history .number {
    font-variant-numeric: tabular-nums;
    white-space: nowrap;
  }
  .history .sub {
    font-size: 0.82rem;
    color: var(--muted);
    overflow-wrap: anywhere;
  }
  .compact td:is(:nth-child(1), :nth-child(2), :nth-child(4)) {
    white-space: nowrap;
  }
  .history tbody tr.details-row {
    border-top: 0;
  }
  .run-actions {
    white-space: nowrap;
  }
  /* Apart from the log, so that a finger that wants the one doesn't press the other. */
  .run-actions .danger {
    margin-left: 1rem;
  }
`;
