import type { FastifyReply } from "fastify";
import { builtFile } from "./built-file.ts";
import { html, trusted } from "./html.ts";
import type { Html } from "./html.ts";

/** The nonces that this answer's policy allows inline scripts and styles by. */
export interface Nonces {
  readonly script: string;
  readonly style: string;
}

/** One whole page, with the names of its files in styles/ (after base.css) and in browser/. */
export interface Page {
  readonly title: string;
  readonly styles: readonly string[];
  readonly body: Html;
  readonly script?: string;
  /** False on pages without the dashboard's keys. */
  readonly shortcuts?: false;
}

const calmIcon = icon("#3b5bdb", '<circle cx="16" cy="20" r="2.5" fill="#ffd43b"/>');
/** While an alert is open or could not be delivered: another colour, and another shape. */
const alertIcon = icon(
  "#c22f2f",
  '<circle cx="25" cy="7" r="7" fill="#fff"/><circle cx="25" cy="7" r="5" fill="#ffd43b"/>',
);

function icon(color: string, dot: string): string {
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${color}"/>` +
    '<path d="M8 23 16 8l8 15" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>' +
    `${dot}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** Answers with a page under this answer's own nonces. */
export function sendPage(reply: FastifyReply, page: Page, status = 200): FastifyReply {
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .header("cache-control", "no-store")
    .send(renderPage(page, reply.cspNonce));
}

/** The document around a page: everything inline, nothing loaded from anywhere else. */
function renderPage(page: Page, nonces: Nonces): string {
  const style = ["base", ...page.styles].map((name) => builtFile(`styles/${name}.css`)).join("\n");
  const shared = page.shortcuts === false ? [] : ["shortcuts"];
  const scripts = page.script === undefined ? [] : [page.script, ...shared];
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${page.title}</title>
        <link
          rel="icon"
          id="icon"
          href="${calmIcon}"
          data-calm="${calmIcon}"
          data-alert="${alertIcon}"
        />
        ${trusted(`<style nonce="${nonces.style}">${style}</style>`)}
      </head>
      <body>
        ${page.body} ${scripts.map((name) => scriptElement(name, nonces.script))}
      </body>
    </html>`;
  return `${document.html}\n`;
}

function scriptElement(name: string, nonce: string): Html {
  const script = builtFile(`browser/${name}.js`);
  return trusted(`<script type="module" nonce="${nonce}">${script}</script>`);
}

/** The program's mark, beside its name. */
export const mark: Html = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
  <rect width="32" height="32" rx="8" />
  <path d="M8 23 16 8l8 15" />
  <circle cx="16" cy="20" r="2.5" />
</svg>`;
