import { css } from "../html.ts";

/** Calls between agents: what a call was told and returned, and the tree around it. */
export const callStyles = css`
  .calls {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.7rem;
    font-size: 0.9rem;
  }
  .details .calls {
    margin-top: 1rem;
    padding-top: 0.9rem;
    border-top: 1px solid var(--line);
  }
  .calls h3 {
    font-size: 0.95rem;
    margin: 0 0 0.4rem;
  }
  .fold summary {
    color: var(--accent);
    cursor: pointer;
    width: fit-content;
    font-size: 0.86rem;
  }
  .payload {
    font: 0.82rem/1.5 var(--mono);
    background: var(--surface);
    border: 1px solid var(--line);
    border-radius: 8px;
    max-height: 26rem;
    overflow: auto;
    padding: 0.7rem 0.9rem;
    margin: 0.5rem 0 0;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .call-tree {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  .call-tree .call-tree {
    border-left: 2px solid var(--line);
    margin-left: 0.55rem;
    padding-left: 0.9rem;
  }
  .call-line {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0 0.7rem;
    padding: 0.2rem 0.45rem;
    border-radius: 6px;
    overflow-wrap: anywhere;
  }
  .call-line[aria-current] {
    background: var(--raised);
    font-weight: 600;
  }
  .call-line .muted {
    font-size: 0.86rem;
    font-weight: 400;
  }
  .caller {
    overflow-wrap: anywhere;
  }
  .run-calls {
    display: block;
  }
  .compact .details-row td:nth-child(n) {
    white-space: normal;
    padding-bottom: 0.8rem;
  }
  .compact .details-row .calls {
    background: var(--page);
    border: 1px solid var(--line);
    border-radius: 10px;
    padding: 0.8rem 0.9rem;
  }
  .claims {
    list-style: none;
    margin: 0.6rem 0 0;
    padding: 0;
    font-size: 0.9rem;
    overflow-wrap: anywhere;
  }
  .claims li {
    padding: 0.4rem 0;
  }
  .claims li + li {
    border-top: 1px solid var(--line);
  }
  .claims .sub {
    font-size: 0.82rem;
    color: var(--muted);
    margin-top: 0.25rem;
  }
  .claims:empty {
    display: none;
  }
  #locks-note {
    font-size: 0.87rem;
    margin-top: 0.4rem;
  }
`;
