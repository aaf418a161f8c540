import type { Content, JsonSchema, OpenApi, Operation, Parameter } from "./api/openapi.ts";
import { boundsText, schemaText } from "./api/schema-text.ts";
import { html } from "../dashboard/html.ts";
import type { Html } from "../dashboard/html.ts";
import { mark } from "../dashboard/layout.ts";
import type { Page } from "../dashboard/layout.ts";

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The API's description, for reading. */
export function docsPage(api: OpenApi): Page {
  const entries = Object.entries(api.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  );
  const tags = [...new Set(entries.flatMap(({ operation }) => operation.tags))].sort();
  return {
    title: `API · ${api.info.title}`,
    styles: ["docs"],
    body: html`<main class="docs">
      <h1>${mark} ${api.info.title} API <small class="muted">${api.info.version}</small></h1>
      <p>${prose(api.info.description)} <a href="/openapi.json">openapi.json</a></p>
      <nav aria-label="Sections">
        ${tags.map((tag) => html`<a href="#${anchor(tag)}">${tag}</a> `)}
        <a href="#types">Types</a>
      </nav>
      ${tags.map((tag) => section(tag, entries))}
      <section id="types">
        <h2>Types</h2>
        ${Object.entries(api.components.schemas).map(
          ([name, schema]) =>
            html`<h3 id="${name}"><code>${name}</code></h3>
              <pre tabindex="0">${schemaText(schema)}</pre>`,
        )}
      </section>
    </main>`,
  };
}

function anchor(tag: string): string {
  return tag.toLowerCase();
}

function section(tag: string, entries: readonly Entry[]): Html {
  return html`<section id="${anchor(tag)}">
    <h2>${tag}</h2>
    ${entries.filter(({ operation }) => operation.tags.includes(tag)).map(entryMarkup)}
  </section>`;
}

function entryMarkup({ method, path, operation }: Entry): Html {
  const { summary, description = null, parameters, requestBody } = operation;
  return html`<article>
    <h3>
      <code><b>${method.toUpperCase()}</b> ${path}</code>
    </h3>
    <p>${summary}. <span class="muted">${access(operation)}</span></p>
    ${description === null ? null : html`<p>${prose(description)}</p>`}
    ${parameters.length === 0 ? null : parameterList(parameters)}
    ${requestBody === undefined ? null : contentMarkup("Body", requestBody.content)}
    ${Object.entries(operation.responses)
      .filter(([status]) => !isProblem(status))
      .map(([status, { description: name, content }]) =>
        contentMarkup(`${status} ${name}`, content ?? {}),
      )}
    ${problemLine(operation)}
  </article>`;
}

function access({ security }: Operation): string {
  if (security.length === 0) return "Needs no key.";
  return security.length > 1 ? "Needs the key or a session." : "Needs the key.";
}

function parameterList(parameters: readonly Parameter[]): Html {
  return html`<ul>
    ${parameters.map(
      ({ name, in: where, required, description = "", schema }) =>
        html`<li>
          <code>${name}</code>
          <span class="muted">${where}${required ? "" : ", optional"}</span> ${typeMarkup(schema)}
          <span class="muted">${boundsText(schema)}</span>
          ${prose(description)}
        </li>`,
    )}
  </ul>`;
}

function contentMarkup(label: string, content: Content): Html {
  // Where there are several media types, they hold the same.
  const [type = "", { schema, "x-events": events } = {}] = Object.entries(content)[0] ?? [];
  const isJson = /[/+]json$/.test(type) && schema !== undefined;
  return html`<p>${label} <span class="muted">${Object.keys(content).join(", ")}</span></p>
    ${isJson ? html`<pre tabindex="0">${typeMarkup(schema)}</pre>` : null}
    ${Object.entries(events ?? {}).map(
      ([name, event]) => html`<p>Event <code>${name}</code>: ${typeMarkup(event)}</p>`,
    )}`;
}

/** A type, with a link to its full description when it has a name. */
function typeMarkup(schema: JsonSchema): Html {
  const text = schemaText(schema);
  return typeof schema.$ref === "string"
    ? html`<a href="#${text}"><code>${text}</code></a>`
    : html`<code>${text}</code>`;
}

/** Text with code in backticks. */
function prose(text: string): Html[] {
  return text
    .split("`")
    .map((part, i) => (i % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
}

function isProblem(status: string): boolean {
  return Number(status) >= 400;
}

function problemLine({ responses }: Operation): Html | null {
  const statuses = Object.keys(responses).filter(isProblem);
  if (statuses.length === 0) return null;
  return html`<p class="muted">
    Refusals:
    ${statuses.map((status) => `${status} ${responses[status]?.description ?? ""}`).join(", ")}
  </p>`;
}
