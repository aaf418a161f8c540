/** @jsxImportSource preact */
import type { FastifyReply } from "fastify";
import type { FunctionComponent, VNode } from "preact";
import { builtFile } from "./built-file.ts";
import { calmIcon } from "./parts/mark.tsx";
import { tabTitle } from "./parts/site.tsx";
import type { Frame } from "./parts/site.tsx";

/** The nonces by which this response's policy allows inline scripts and styles. */
interface Nonces {
  readonly script: string;
  readonly style: string;
}

/** A page that the server renders with its data, and that the browser keeps current. */
export interface LivePage<Data extends { readonly frame: Frame }> {
  /** The name of its script. */
  readonly name: string;
  /** Begins the tab's title; null for the overview. */
  readonly title: (data: Data) => string | null;
  /** Names of its files in styles/, after base.css. */
  readonly styles: readonly string[];
  readonly view: FunctionComponent<Data>;
}

/** A whole document. */
export interface Document {
  readonly title: string;
  readonly styles: readonly string[];
  readonly body: VNode;
  /** The name of its script in pages/. */
  readonly script?: string;
  /** Left in the document for its script. */
  readonly data?: object;
}

/** Responds with a live page. */
export async function sendLivePage<Data extends { readonly frame: Frame }>(
  reply: FastifyReply,
  { name, title, styles, view: View }: LivePage<Data>,
  data: Data,
): Promise<FastifyReply> {
  const { scheduler } = data.frame;
  const document = { title: tabTitle(title(data), scheduler), styles, data, script: name };
  return sendPage(reply, { ...document, body: <View {...data} /> });
}

/** Responds with a document under this response's own nonces. */
export async function sendPage(
  reply: FastifyReply,
  page: Document,
  status = 200,
): Promise<FastifyReply> {
  const html = await renderDocument(page, reply.cspNonce);
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .header("cache-control", "no-store")
    .send(`<!doctype html>\n${html}\n`);
}

/** The document around a page: everything is inline, and it loads nothing. The renderer is loaded for the first page. */
async function renderDocument(
  { title, styles, body, script, data }: Document,
  nonces: Nonces,
): Promise<string> {
  const { renderToString } = await import("preact-render-to-string");
  const style = ["base", ...styles].map((name) => builtFile(`styles/${name}.css`)).join("\n");
  return renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <link rel="icon" href={calmIcon} />
        <style nonce={nonces.style} dangerouslySetInnerHTML={{ __html: style }} />
        {data !== undefined && (
          <script
            type="application/json"
            id="page-data"
            dangerouslySetInnerHTML={{ __html: JSON.stringify(data).replaceAll("<", "\\u003c") }}
          />
        )}
        {script !== undefined && (
          <script
            type="module"
            nonce={nonces.script}
            dangerouslySetInnerHTML={{ __html: builtFile(`pages/${script}.js`) }}
          />
        )}
      </head>
      <body>{body}</body>
    </html>,
  );
}
