import { css } from "../html.ts";

/** The lines of a log, by their kind. */
export const logRowStyles = css`
  .line {
    display: grid;
    grid-template-columns: 4.6rem 3.2rem minmax(0, 1fr);
    gap: 0.9rem;
    padding: 0.1rem 1.25rem;
  }
  .line:hover {
    background: var(--surface);
  }
  .at {
    font: inherit;
    font-variant-numeric: tabular-nums;
    color: var(--muted);
    text-align: left;
    align-self: start;
    background: none;
    border: 0;
    padding: 0;
    cursor: pointer;
  }
  .at:hover,
  .at[aria-expanded="true"] {
    color: var(--accent);
    text-decoration: underline;
  }
  .level {
    font-weight: 600;
    color: var(--muted);
  }
  .info .level {
    color: var(--green);
  }
  .warn .level {
    color: var(--yellow);
  }
  .error .level {
    color: var(--red);
  }
  .line.warn {
    background: color-mix(in srgb, var(--yellow-soft) 45%, transparent);
  }
  .line.error {
    background: color-mix(in srgb, var(--red-soft) 55%, transparent);
  }
  .text,
  .input,
  .output {
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .run-heading {
    display: flex;
    align-items: center;
    gap: 0.9rem;
    font-size: 0.78rem;
    color: var(--muted);
    padding: 0.9rem 1.25rem 0.4rem;
  }
  .day-heading {
    font: 600 0.9rem/1.4 var(--sans);
    padding: 1.1rem 1.25rem 0.2rem;
  }
  .run-heading::after {
    content: "";
    flex: 1;
    border-top: 1px solid var(--line);
  }
  .kind-said .text {
    font: 0.95rem/1.55 var(--sans);
  }
  .kind-said .text {
    display: block;
    max-width: 80ch;
  }
  .kind-said {
    padding-block: 0.35rem;
  }
  .kind-run .text {
    font-weight: 600;
  }
  .kind-process .text,
  .kind-usage .text {
    color: var(--muted);
  }
  .facts {
    color: var(--muted);
  }
  .text + .facts {
    margin-left: 0.9rem;
  }
  .tool {
    font-weight: 600;
    color: var(--blue);
    margin-right: 0.7rem;
  }
  .input {
    background: none;
    padding: 0;
  }
  .words {
    white-space: pre-wrap;
  }
  .result {
    color: var(--muted);
    margin-right: 0.7rem;
  }
  .result.failed {
    color: var(--red);
  }
  .output {
    font: inherit;
    margin: 0.15rem 0 0.3rem;
    padding: 0.4rem 0.75rem;
    border-left: 2px solid var(--line);
    color: var(--muted);
  }
  details {
    margin-top: 0.1rem;
  }
  summary {
    color: var(--accent);
    cursor: pointer;
    width: fit-content;
  }
  :is(.kind-tool-result, .kind-usage, .kind-process) .content {
    padding-left: 1.4rem;
  }
  .output-inline {
    color: var(--muted);
    border-left: 2px solid var(--line);
    margin-left: 0.8rem;
    padding-left: 0.6rem;
    overflow-wrap: anywhere;
  }
  .end-mark {
    font-weight: 700;
  }
  .end-mark.good {
    color: var(--green);
  }
  .end-mark.bad,
  .reason {
    color: var(--red);
  }
  .reason {
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .prompt {
    font: 0.95rem/1.55 var(--sans);
    border-left: 3px solid var(--accent);
    margin: 0.3rem 0;
    padding-left: 0.8rem;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .raw-entry {
    font: inherit;
    font-size: 0.95em;
    background: var(--raised);
    border-radius: 8px;
    margin: 0.3rem 0;
    padding: 0.5rem 0.75rem;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  @media (max-width: 48rem) {
    .line {
      grid-template-columns: auto 1fr;
      gap: 0 0.7rem;
      padding: 0.3rem 1rem;
    }
    .day-heading,
    .run-heading {
      padding-inline: 1rem;
    }
    .line .content {
      grid-column: 1 / -1;
    }
  }
`;
