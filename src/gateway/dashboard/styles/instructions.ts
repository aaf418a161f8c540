import { css } from "../html.ts";

/** An agent's instructions, and the dialog that adds a prompt to them. */
export const instructionStyles = css`
  .instructions {
    margin-top: 0.7rem;
    max-width: 75ch;
    line-height: 1.6;
    overflow-wrap: anywhere;
  }
  .instructions > * {
    margin: 0 0 0.75rem;
  }
  .instructions > :last-child {
    margin-bottom: 0;
  }
  .instructions :is(h3, h4, h5, h6) {
    font-size: 1rem;
    margin-top: 1.1rem;
  }
  .instructions p,
  .instructions .item {
    white-space: pre-line;
  }
  .instructions .item {
    display: flex;
    gap: 0.6rem;
    margin-bottom: 0.3rem;
  }
  .instructions .marker {
    flex: none;
  }
  .instructions .depth-1 {
    margin-left: 1.4rem;
  }
  .instructions .depth-2 {
    margin-left: 2.8rem;
  }
  .instructions .depth-3 {
    margin-left: 4.2rem;
  }
  .instructions blockquote {
    border-left: 3px solid var(--line);
    padding-left: 0.9rem;
    color: var(--muted);
    white-space: pre-line;
  }
  .instructions pre,
  .instructions-raw {
    font: 0.84rem/1.55 var(--mono);
    background: var(--raised);
    border-radius: 8px;
    padding: 0.7rem 0.9rem;
    overflow: auto;
  }
  .instructions-raw {
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    margin: 0.7rem 0 0;
  }
  .instructions hr {
    border: 0;
    border-top: 1px solid var(--line);
  }
  dialog {
    width: min(34rem, calc(100vw - 2rem));
    color: var(--text);
    background: var(--surface);
    border: 1px solid var(--line);
    border-radius: 14px;
    padding: 1.4rem;
    box-shadow: 0 16px 48px rgb(0 0 0 / 25%);
  }
  dialog::backdrop {
    background: rgb(10 14 20 / 45%);
  }
  dialog label {
    display: block;
    font-size: 0.9rem;
    color: var(--muted);
    margin: 0.5rem 0 0.4rem;
  }
  dialog textarea {
    width: 100%;
    font: 0.92rem/1.5 var(--sans);
    color: inherit;
    background: var(--page);
    border: 1px solid var(--line);
    border-radius: 8px;
    padding: 0.6rem 0.75rem;
    resize: vertical;
  }
  dialog .end {
    display: flex;
    justify-content: flex-end;
    gap: 0.5rem;
    margin-top: 0.9rem;
  }
`;
