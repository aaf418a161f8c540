import { css } from "../html.ts";

/** What every page of the dashboard has: header, notices, panels, pills. */
export const siteStyles = css`
  .skip {
    position: absolute;
    left: 1rem;
    top: -4rem;
    z-index: 2;
    background: var(--surface);
    border-radius: 8px;
    padding: 0.5rem 0.9rem;
  }
  .skip:focus {
    top: 0.6rem;
  }
  .site,
  main,
  footer {
    max-width: 82rem;
    margin: 0 auto;
    padding-inline: 1.5rem;
  }
  .site {
    display: flex;
    align-items: center;
    flex-wrap: wrap;
    gap: 0.6rem 1.4rem;
    padding-block: 1.1rem 1rem;
  }
  .brand {
    display: flex;
    align-items: center;
    gap: 0.65rem;
    min-width: 0;
    color: var(--text);
    font-size: 1.1rem;
    font-weight: 650;
    letter-spacing: -0.01em;
    overflow-wrap: anywhere;
  }
  .brand:hover {
    text-decoration: none;
  }
  .brand .mark {
    width: 2rem;
    height: 2rem;
  }
  .pages {
    display: flex;
    gap: 0.2rem;
  }
  .pages a {
    color: var(--muted);
    font-size: 0.92rem;
    font-weight: 550;
    border-radius: 8px;
    padding: 0.35rem 0.7rem;
  }
  .pages a:hover {
    background: var(--raised);
    text-decoration: none;
  }
  .pages a[aria-current] {
    color: var(--text);
    background: var(--raised);
  }
  .site-end {
    display: flex;
    align-items: center;
    gap: 0.5rem;
    margin-left: auto;
  }
  .site-end #pause {
    min-width: 5.2rem;
  }
  a.button {
    color: var(--text);
  }
  .connection {
    display: inline-flex;
    align-items: center;
    gap: 0.4rem;
    margin-right: 0.5rem;
    font-size: 0.87rem;
    color: var(--muted);
    white-space: nowrap;
  }
  .connection .dot {
    width: 0.5rem;
    height: 0.5rem;
    border-radius: 50%;
    background: var(--muted);
  }
  [data-connection="live"] .connection .dot {
    background: var(--green);
  }
  [data-connection="lost"] .connection {
    color: var(--red);
  }
  [data-connection="lost"] .connection .dot {
    background: var(--red);
  }
  main {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 1.1rem;
  }
  .page-title {
    display: flex;
    align-items: center;
    flex-wrap: wrap;
    gap: 0.5rem 0.8rem;
    min-height: 2.2rem;
  }
  .page-title h1 {
    font-size: 1.35rem;
    overflow-wrap: anywhere;
  }
  .page-title .end {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem;
    margin-left: auto;
  }
  footer {
    min-height: 5rem;
    padding-block: 1.5rem 2.5rem;
    font-size: 0.8rem;
  }
  @media (max-width: 48rem) {
    .site,
    main,
    footer {
      padding-inline: 1rem;
    }
  }
`;
