import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { FastifyReply } from "fastify";
import type { FunctionComponent, VNode } from "preact";
import { currentBasePath } from "./text/base-path.ts";
import { calmIcon } from "./kit/mark.tsx";
import { tabTitle, type Frame } from "./kit/site.tsx";

/** A page that the server renders with its data, and that the browser keeps current. */
export interface LivePage<Data extends { readonly frame: Frame }> {
  /** The name of its script. */
  readonly name: string;
  /** Begins the tab's title; null on the overview. */
  readonly title: (data: Data) => string | null;
  /** Names of its styles, after base.css. */
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
  /** Data in the document for its script. */
  readonly data?: object;
}

/** Responds with a live page, or with 304 if the browser has it. */
export async function sendLivePage<Data extends { readonly frame: Frame }>(
  reply: FastifyReply,
  { name, title, styles, view: View }: LivePage<Data>,
  data: Data,
): Promise<FastifyReply> {
  const { scheduler } = data.frame;
  const document = { title: tabTitle(title(data), scheduler), styles, data, script: name };
  const html = await renderDocument({ ...document, body: <View {...data} /> }, reply);
  const tag = `W/"${createHash("sha256").update(html).digest("base64url")}"`;
  void reply.headers({ "cache-control": "private, no-cache", etag: tag, vary: "accept-encoding" });
  const known = reply.request.headers["if-none-match"]?.split(/,\s*/) ?? [];
  return known.includes(tag) ? reply.code(304).send() : reply.send(html);
}

/** Responds with a document that must not be cached, because it may hold a token. */
export async function sendPage(
  reply: FastifyReply,
  page: Document,
  status = 200,
): Promise<FastifyReply> {
  const html = await renderDocument(page, reply);
  return reply.code(status).header("cache-control", "no-store").send(html);
}

/** The path of the script that all pages of a browser share, and its name in pages/. */
export const workerPath = "/dashboard/live.js";
const workerScript = () => builtFile("pages/live.js");

/** Responds with the shared script. Pages ask for it by its hash, so that it can be kept. */
export function sendWorker(reply: FastifyReply): FastifyReply {
  void reply.type("text/javascript; charset=utf-8").headers({
    "cache-control": "private, max-age=31536000, immutable",
    "content-security-policy": "default-src 'none';connect-src 'self'",
  });
  return reply.send(workerScript().text);
}

/** Renders a document and sets its headers. */
async function renderDocument(page: Document, reply: FastifyReply): Promise<string> {
  const styles = ["base", ...page.styles].map((name) => builtFile(`styles/${name}.css`));
  const script = page.script === undefined ? null : builtFile(`pages/${page.script}.js`);
  void reply.type("text/html; charset=utf-8").headers({
    "content-security-policy": policyOf(styles, script, page.data !== undefined),
    "x-dns-prefetch-control": "off",
    "x-frame-options": "DENY",
  });
  return `<!doctype html>\n${await htmlOf(page, styles, script)}\n`;
}

/**
 * Limits a page to its own script and styles, the worker of all pages, and requests to this gateway; it can't be framed. Hashes allow no more than
 * nonces do, and the same page stays the same text.
 */
function policyOf(
  styles: readonly BuiltFile[],
  script: BuiltFile | null,
  hasWorker: boolean,
): string {
  return [
    "default-src 'none'",
    `script-src ${script?.source ?? "'none'"}`,
    `worker-src ${hasWorker ? "'self'" : "'none'"}`,
    `style-src ${styles.map(({ source }) => source).join(" ")}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join(";");
}

/** The document around a page: everything is inline, and it loads nothing. The renderer is loaded for the first page. */
async function htmlOf(
  { title, body, data }: Document,
  styles: readonly BuiltFile[],
  script: BuiltFile | null,
): Promise<string> {
  const { renderToString } = await import("preact-render-to-string");
  return renderToString(
    <html
      lang="en"
      data-base={currentBasePath()}
      data-live={data === undefined ? undefined : workerScript().source.slice(8, 24)}
    >
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <link rel="icon" href={calmIcon} />
        {styles.map(({ text }) => (
          <style dangerouslySetInnerHTML={{ __html: text }} />
        ))}
      </head>
      <body>
        {body}
        {data !== undefined && (
          <script
            type="application/json"
            id="page-data"
            dangerouslySetInnerHTML={{ __html: JSON.stringify(data).replaceAll("<", "\\u003c") }}
          />
        )}
        {script !== null && (
          <script type="module" dangerouslySetInnerHTML={{ __html: script.text }} />
        )}
      </body>
    </html>,
  );
}

/** The pages' scripts and styles, written by the build: beside its chunks, or for sources that run unbuilt. */
const built = new URL(
  import.meta.url.endsWith(".tsx")
    ? "../../../dist/src/interfaces/dashboard/"
    : "../interfaces/dashboard/",
  import.meta.url,
);

interface BuiltFile {
  readonly text: string;
  /** The source of a content security policy that allows an element with this text. */
  readonly source: string;
}

/** Files of the program don't change while it runs. */
const files = new Map<string, BuiltFile>();

/** A built file of the pages, to be put into an element: `pages/log.js`. */
export function builtFile(name: string): BuiltFile {
  const known = files.get(name);
  if (known !== undefined) return known;
  const text = read(name);
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${name} would end its own element`);
  const file = { text, source: `'sha256-${createHash("sha256").update(text).digest("base64")}'` };
  files.set(name, file);
  return file;
}

function read(name: string): string {
  try {
    return readFileSync(new URL(name, built), "utf8");
  } catch (error) {
    const where = fileURLToPath(built);
    throw new Error(`${name} is missing in ${where}: build the program with npm run build`, {
      cause: error,
    });
  }
}
