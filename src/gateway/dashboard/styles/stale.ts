import { css } from "../html.ts";

/** What the page can no longer know once the scheduler is silent: greyed, still, and not to be pressed. */
export const staleStyles = css`
  .panel,
  .live-fact {
    transition: opacity 0.2s;
  }
  [data-connection="lost"] .panel {
    opacity: 0.62;
  }
  [data-connection="lost"] .live-fact,
  [data-connection="lost"] .pill:is(.idle, .running, .building, .error, .good, .held) {
    color: var(--muted);
    background: var(--raised);
  }
  [data-connection="lost"] .live-fact {
    background: none;
    text-decoration: line-through;
    text-decoration-color: var(--line);
  }
  [data-connection="lost"] .pill::before,
  [data-connection="lost"] .bar.running {
    animation: none;
  }
  [data-connection="lost"] .acts {
    opacity: 0.45;
    cursor: default;
  }
`;
