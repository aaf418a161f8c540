import { css } from "../html.ts";

/** What tells of a failed action, in the middle of the lower edge: the buttons of rows are to its right. */
export const toastStyles = css`
  #toasts {
    position: fixed;
    inset: auto 0 1rem;
    margin-inline: auto;
    width: min(26rem, calc(100vw - 2rem));
    display: grid;
    gap: 0.5rem;
  }
  .toast {
    display: flex;
    justify-content: space-between;
    gap: 0.75rem;
    font-size: 0.92rem;
    overflow-wrap: anywhere;
    color: var(--page);
    background: var(--text);
    border-radius: 10px;
    padding: 0.75rem 0.5rem 0.75rem 1rem;
    box-shadow: 0 8px 28px rgb(0 0 0 / 22%);
  }
  .toast-close {
    font: inherit;
    line-height: 1;
    align-self: start;
    color: inherit;
    background: none;
    border: 0;
    padding: 0.2rem 0.5rem;
    cursor: pointer;
  }
`;
