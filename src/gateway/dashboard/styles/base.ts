import { css } from "../html.ts";

/** Colours, type and the parts that all pages share. */
export const baseStyles = css`
  :root {
    color-scheme: light dark;
    --page: #f6f7f9;
    --surface: #fff;
    --raised: #f1f3f5;
    --line: #e2e6ea;
    --text: #1a1f26;
    --muted: #5c6773;
    --accent: #3451c7;
    --accent-text: #fff;
    --green: #177545;
    --green-soft: #dcf5e6;
    --yellow: #8a5a00;
    --yellow-soft: #fdf0cf;
    --red: #c22f2f;
    --red-soft: #fde4e2;
    --blue: #2a5bd7;
    --blue-soft: #e0eafe;
    --shadow: 0 1px 2px rgb(16 24 40 / 4%), 0 8px 24px rgb(16 24 40 / 5%);
    --sans:
      -apple-system, blinkmacsystemfont, "Segoe UI", roboto, "Noto Sans", "Liberation Sans",
      system-ui, sans-serif;
    --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, "Liberation Mono", monospace;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --page: #0f1318;
      --surface: #171c23;
      --raised: #1f262f;
      --line: #2a323d;
      --text: #e6eaf0;
      --muted: #95a1b0;
      --accent: #8ea5ff;
      --accent-text: #0f1318;
      --green: #5fd39a;
      --green-soft: #143527;
      --yellow: #f0c263;
      --yellow-soft: #3a2e10;
      --red: #ff8f87;
      --red-soft: #421d1f;
      --blue: #8fb4ff;
      --blue-soft: #1a2b4d;
      --shadow: none;
    }
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  [hidden] {
    display: none !important;
  }
  body {
    margin: 0;
    background: var(--page);
    color: var(--text);
    font: 15px/1.5 var(--sans);
    -webkit-font-smoothing: antialiased;
  }
  h1,
  h2,
  p {
    margin: 0;
  }
  h1,
  h2 {
    line-height: 1.25;
    letter-spacing: -0.01em;
  }
  a {
    color: var(--accent);
    text-decoration: none;
  }
  a:hover {
    text-decoration: underline;
  }
  code,
  kbd {
    font: 0.92em var(--mono);
  }
  code {
    background: var(--raised);
    border-radius: 5px;
    padding: 0.1em 0.35em;
    overflow-wrap: anywhere;
  }
  .muted {
    color: var(--muted);
  }
  .mark {
    width: 1.6rem;
    height: 1.6rem;
    flex: none;
  }
  .mark rect {
    fill: #3b5bdb;
  }
  .mark path {
    fill: none;
    stroke: #fff;
    stroke-width: 3;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .mark circle {
    fill: #ffd43b;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
    border-radius: 6px;
  }
  .button {
    font: inherit;
    font-size: 0.87rem;
    font-weight: 550;
    line-height: 1.2;
    white-space: nowrap;
    color: var(--text);
    background: var(--surface);
    border: 1px solid var(--line);
    border-radius: 8px;
    padding: 0.42rem 0.75rem;
    cursor: pointer;
  }
  .button:hover:not(:disabled) {
    background: var(--raised);
    text-decoration: none;
  }
  .button:disabled {
    opacity: 0.5;
    cursor: default;
  }
  .button.primary {
    background: var(--accent);
    border-color: var(--accent);
    color: var(--accent-text);
  }
  .button.primary:hover:not(:disabled) {
    filter: brightness(1.08);
    background: var(--accent);
  }
  .notice {
    border-radius: 10px;
    padding: 0.6rem 0.9rem;
    font-size: 0.92rem;
    overflow-wrap: anywhere;
  }
  .notice.error {
    background: var(--red-soft);
    color: var(--red);
    white-space: pre-line;
  }
  .notice.warning {
    background: var(--yellow-soft);
    color: var(--yellow);
  }
  .notice.lines {
    white-space: pre-line;
  }
  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (prefers-reduced-motion: reduce) {
    * {
      animation: none !important;
      transition: none !important;
    }
  }
`;
