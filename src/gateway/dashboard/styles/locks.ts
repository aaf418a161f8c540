import { css } from "../html.ts";

/** The overview's locks. */
export const lockStyles = css`
  #lock-count {
    font-size: 0.9rem;
    font-variant-numeric: tabular-nums;
  }
  .locks {
    padding: 1.1rem 1.25rem 0.7rem;
  }
  .locks h2 {
    margin-bottom: 0.3rem;
  }
  #lock-rows {
    list-style: none;
    margin: 0;
    padding: 0;
    font-size: 0.9rem;
    overflow-wrap: anywhere;
  }
  #lock-rows li {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0.1rem 1rem;
    padding: 0.45rem 0;
  }
  #lock-rows li + li {
    border-top: 1px solid var(--line);
  }
  #locks-more {
    font-size: 0.87rem;
    padding-block: 0.4rem;
  }
`;
