import { css } from "./dashboard/html.ts";

/** Styles of the page that describes the API. */
export const docsStyles = css`
  .docs {
    max-width: 56rem;
    margin: 0 auto;
    padding: 2rem 1.25rem 4rem;
  }
  .docs h1 .mark {
    width: 1.6rem;
    height: 1.6rem;
    vertical-align: -0.25rem;
  }
  .docs h2 {
    margin: 2.5rem 0 0.5rem;
  }
  .docs nav {
    display: flex;
    flex-wrap: wrap;
    gap: 0.25rem 1rem;
    margin-top: 0.5rem;
  }
  .docs pre code {
    background: none;
    padding: 0;
  }
  .docs article {
    border-top: 1px solid var(--line);
    padding: 1rem 0;
  }
  .docs h3 {
    font-size: 1rem;
    margin: 0;
    overflow-wrap: anywhere;
  }
  .docs p,
  .docs ul {
    margin: 0.4rem 0;
  }
  .docs pre {
    font: 0.85rem/1.5 var(--mono);
    background: var(--surface);
    border: 1px solid var(--line);
    border-radius: 8px;
    padding: 0.6rem 0.8rem;
    margin: 0.4rem 0;
    overflow-x: auto;
  }
`;
