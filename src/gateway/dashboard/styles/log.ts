import { css } from "../html.ts";

/** The log page: a header and one scrolled box. */
export const logStyles = css`
  .log-page {
    height: 100vh;
    height: 100dvh;
    display: grid;
    /* Not wider than the screen, whatever the widest row would like. */
    grid-template: auto auto 1fr / minmax(0, 1fr);
  }
  header {
    display: flex;
    align-items: center;
    flex-wrap: wrap;
    gap: 0.4rem 1rem;
    background: var(--surface);
    border-bottom: 1px solid var(--line);
    padding: 0.75rem 1.25rem;
  }
  header h1 {
    font-size: 1.05rem;
    overflow-wrap: anywhere;
  }
  header h1 a {
    color: var(--text);
  }
  header h1 .muted {
    font-weight: 400;
  }
  .back {
    display: flex;
  }
  header nav {
    display: flex;
    gap: 1.1rem;
    margin-left: auto;
    font-size: 0.9rem;
  }
  .toolbar {
    display: flex;
    align-items: center;
    flex-wrap: wrap;
    gap: 0.45rem;
    background: var(--surface);
    border-bottom: 1px solid var(--line);
    padding: 0.5rem 1.25rem;
  }
  .toolbar .end {
    display: flex;
    flex-wrap: wrap;
    gap: 0.45rem;
    margin-left: auto;
  }
  .toolbar .button {
    padding: 0.38rem 0.65rem;
  }
  a.button {
    color: var(--text);
  }
  .field {
    font: inherit;
    font-size: 0.87rem;
    height: 2rem;
    max-width: 15rem;
    color: var(--text);
    background: var(--page);
    border: 1px solid var(--line);
    border-radius: 8px;
    padding: 0 0.5rem;
  }
  #hidden-count {
    font-size: 0.84rem;
    font-variant-numeric: tabular-nums;
  }
  #follow {
    min-width: 5.8rem;
  }
  .toolbar .button[aria-pressed="true"] {
    color: var(--blue);
    background: var(--blue-soft);
    border-color: transparent;
  }
  .connection {
    display: inline-flex;
    align-items: center;
    gap: 0.4rem;
    font-size: 0.85rem;
    color: var(--muted);
  }
  .connection .dot {
    width: 0.5rem;
    height: 0.5rem;
    border-radius: 50%;
    background: var(--muted);
  }
  .connection[data-state="live"] .dot {
    background: var(--green);
  }
  .connection[data-state="lost"] {
    color: var(--red);
  }
  .connection[data-state="lost"] .dot {
    background: var(--red);
  }
  main {
    position: relative;
    min-height: 0;
  }
  #log {
    position: absolute;
    inset: 0;
    overflow: auto;
    font: 0.84rem/1.6 var(--mono);
    padding: 0.75rem 0 1.25rem;
  }
  #log.nowrap :is(.text, .input, .output, .reason) {
    white-space: pre;
  }
  #log.nowrap .line {
    width: max-content;
    min-width: 100%;
    grid-template-columns: 4.6rem 3.2rem auto;
  }
  #log:focus-visible {
    outline-offset: -3px;
  }
  #log-empty {
    position: absolute;
    inset: 30% 1rem auto;
    text-align: center;
  }
  #jump {
    position: absolute;
    left: 50%;
    bottom: 1.25rem;
    transform: translateX(-50%);
    border-radius: 99px;
    padding: 0.5rem 1rem;
    box-shadow: 0 4px 16px rgb(0 0 0 / 20%);
  }
  @media (max-width: 48rem) {
    header,
    .toolbar {
      padding: 0.55rem 1rem;
    }
    header nav {
      margin-left: 0;
    }
    .toolbar label,
    input.field {
      flex: 1 1 7rem;
      min-width: 0;
    }
    .field {
      width: 100%;
      max-width: none;
    }
    .toolbar .end {
      gap: 0.3rem;
      width: 100%;
      margin-left: 0;
    }
    .toolbar .end .button {
      padding-inline: 0.42rem;
    }
  }
`;
