import { css } from "../html.ts";

/** The parts that pages are made of: panels, pills, outcomes, small buttons. */
export const partStyles = css`
  .panel {
    background: var(--surface);
    border: 1px solid var(--line);
    border-radius: 14px;
    box-shadow: var(--shadow);
  }
  .panel > h2,
  .panel-head h2 {
    font-size: 1rem;
  }
  .panel-head {
    display: flex;
    align-items: center;
    flex-wrap: wrap;
    gap: 0.4rem 1rem;
  }
  .pill {
    display: inline-flex;
    align-items: center;
    gap: 0.4em;
    font-size: 0.8rem;
    font-weight: 600;
    line-height: 1;
    white-space: nowrap;
    border-radius: 99px;
    padding: 0.32rem 0.6rem;
    color: var(--muted);
    background: var(--raised);
  }
  .pill.good {
    color: var(--green);
    background: var(--green-soft);
  }
  .pill.held,
  .pill.building {
    color: var(--yellow);
    background: var(--yellow-soft);
  }
  .pill.running {
    color: var(--blue);
    background: var(--blue-soft);
  }
  .pill.error {
    color: var(--red);
    background: var(--red-soft);
  }
  .pill.off {
    background: none;
    box-shadow: inset 0 0 0 1px var(--line);
  }
  .pill:is(.idle, .running, .building, .error)::before {
    content: "";
    width: 0.45rem;
    height: 0.45rem;
    border-radius: 50%;
    background: currentcolor;
  }
  .pill:is(.running, .building)::before {
    animation: pulse 1.4s ease-in-out infinite;
  }
  @keyframes pulse {
    50% {
      opacity: 0.25;
    }
  }
  .outcome:is(.failed, .timed_out, .killed, .out_of_memory, .lost) {
    color: var(--red);
  }
  .outcome.succeeded {
    color: var(--green);
  }
  .outcome.running {
    color: var(--blue);
  }
  .outcome:is(.interrupted, .skipped, .missed, .dropped, .rejected) {
    color: var(--yellow);
  }
  .sub:empty {
    display: none;
  }
  .choice {
    display: inline-flex;
    margin-left: auto;
    border: 1px solid var(--line);
    border-radius: 8px;
    overflow: hidden;
  }
  .choice button {
    font: inherit;
    font-size: 0.82rem;
    color: var(--muted);
    background: none;
    border: 0;
    padding: 0.28rem 0.7rem;
    cursor: pointer;
  }
  .choice button + button {
    border-left: 1px solid var(--line);
  }
  .choice button[aria-pressed="true"] {
    color: var(--text);
    font-weight: 600;
    background: var(--raised);
  }
  .choice button:focus-visible {
    outline-offset: -2px;
  }
  .link {
    font: inherit;
    font-size: 0.84rem;
    color: var(--accent);
    background: none;
    border: 0;
    padding: 0;
    cursor: pointer;
  }
  .link:hover {
    text-decoration: underline;
  }
  .danger {
    color: var(--red);
  }
  /* A finger needs more room than a word has; what is around stays where it is. */
  @media (pointer: coarse) {
    .run-log a,
    .agent-details,
    .history .link {
      padding: 0.6rem;
      margin: -0.6rem;
    }
    .history .run-actions .danger {
      margin-left: 0.6rem;
    }
  }
  .button[aria-disabled="true"] {
    opacity: 0.45;
    cursor: default;
  }
  .button[aria-busy="true"] {
    cursor: progress;
  }
`;
