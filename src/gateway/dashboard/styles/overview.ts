import { css } from "../html.ts";

/** The overview beside its tables: title, filter, empty state, recent activity. */
export const overviewStyles = css`
  #counts {
    font-size: 0.9rem;
    font-variant-numeric: tabular-nums;
  }
  .filter {
    font: inherit;
    font-size: 0.9rem;
    color: inherit;
    background: var(--surface);
    border: 1px solid var(--line);
    border-radius: 8px;
    padding: 0.38rem 0.7rem;
  }
  input.filter {
    width: 15rem;
    max-width: 100%;
  }
  .none-match {
    padding: 1.5rem;
    text-align: center;
  }
  .empty {
    padding: 3rem 1.5rem;
    text-align: center;
  }
  .empty h2 {
    font-size: 1.15rem;
    margin-bottom: 0.5rem;
  }
  .empty p {
    max-width: 34rem;
    margin: 0 auto;
    line-height: 1.75;
  }
  .recent {
    padding: 1.1rem 1.25rem 1.25rem;
  }
  .recent h2 {
    font-size: 1rem;
    margin-bottom: 0.65rem;
  }
  #activity {
    list-style: none;
    margin: 0;
    padding: 0;
    font: 0.82rem/1.65 var(--mono);
  }
  .activity-line {
    display: grid;
    grid-template-columns: 4.6rem minmax(5rem, 10rem) 1fr;
    gap: 0.85rem;
  }
  .activity-line time {
    font-variant-numeric: tabular-nums;
  }
  .activity-agent,
  .activity-text {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .activity-line.warn .activity-text {
    color: var(--yellow);
  }
  .activity-line.error .activity-text {
    color: var(--red);
  }
  .activity-line.debug .activity-text {
    color: var(--muted);
  }
  #activity-empty {
    font-size: 0.9rem;
  }
  @media (max-width: 48rem) {
    .activity-line {
      grid-template-columns: auto 1fr;
      gap: 0 0.6rem;
      padding-block: 0.35rem;
    }
    .activity-text {
      grid-column: 1 / -1;
      white-space: normal;
      overflow-wrap: anywhere;
    }
  }
`;
