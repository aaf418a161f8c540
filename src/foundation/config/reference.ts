import { providers, type Provider } from "../../../streams/agent-config.ts";
import { modelDefaults, apiBaseUrl } from "../contracts/model-defaults.ts";
import { z } from "zod";
import type { FilterField } from "./config-key.ts";
import { agentSchema } from "./agent-keys.ts";
import { defaultOf, expectation, fallbackOf, isOptional, meaning, unwrapped } from "./validate.ts";
import { projectSchema } from "./project-schema.ts";
import { commonFields } from "./webhook-bindings.ts";

/** The reference page of both files, as markdown: every key with its type, its default and its purpose. */
export function configReference(): string {
  return `${[
    intro,
    "## The project: `config.toml`",
    ...sections(projectSchema),
    "## An agent: `agents/<name>/config.toml`",
    ...sections(agentSchema),
    providerReference(),
  ].join("\n\n")}\n`;
}

const intro = `# Keys of config.toml

All keys of the project's and of an agent's file. A key is optional unless its default says "required". Changes take effect
for runs that start after the file is saved. \`al config --schema project\` and \`al config --schema agent\` print JSON Schemas
for editors.`;

interface Row {
  readonly key: string;
  readonly takes: string;
  readonly default: string;
  readonly meaning: string;
}

type Field = z.core.$ZodType;

/** The table of a TOML table's own keys, then a section for each table in it. */
function sections(table: z.ZodObject, isFilters = false): string[] {
  const fields = Object.entries<Field>(table.shape);
  const rows = fields.filter(([, field]) => innerTable(field) === null).map(rowOf);
  const more = isFilters ? Object.entries(commonFields).map(filterRow) : [];
  return [
    ...(rows.length === 0 ? [] : [markdown([...rows, ...more])]),
    ...fields.flatMap(([key, field]) => section(key, field)),
  ];
}

function section(key: string, field: Field): string[] {
  const inner = innerTable(field);
  if (inner === null) return [];
  const isFilters = key === "webhooks" && inner.kind === "list";
  const text = [meaning(field), key === "webhooks" ? allServices : ""];
  const title = `### \`${titleOf(key, field, inner.kind)}\``;
  return [title, text.filter(Boolean).join(" "), ...sections(inner.table, isFilters)];
}

const allServices = "[All services and their filters](../../features/webhooks/reference.md).";

interface InnerTable {
  readonly table: z.ZodObject;
  /** `[key]`, `[key.<name>]` or `[[key]]` */
  readonly kind: "one" | "named" | "list";
}

function innerTable(field: Field): InnerTable | null {
  const inner = unwrapped(field);
  // A table that describes its own value is short: it is shown as a value in its row.
  if (inner instanceof z.ZodObject && expectation(inner) === "a table") {
    return { table: inner, kind: "one" };
  }
  if (inner instanceof z.ZodRecord && inner.valueType instanceof z.ZodObject) {
    return { table: inner.valueType, kind: "named" };
  }
  if (inner instanceof z.ZodArray && inner.element instanceof z.ZodObject) {
    return { table: inner.element, kind: "list" };
  }
  return null;
}

/** The error of repeatable tables holds the form of their headers. */
function titleOf(key: string, field: Field, kind: InnerTable["kind"]): string {
  return kind === "one" ? `[${key}]` : (/\[.{0,200}\]/.exec(expectation(field) ?? "")?.[0] ?? key);
}

function rowOf([key, field]: readonly [string, Field]): Row {
  const inner = unwrapped(field);
  const text = meaning(field) ?? "";
  if (inner instanceof z.ZodRecord && expectation(field) === "a table") {
    return {
      key: `[${key}]`,
      takes: expectation(inner.valueType) ?? "",
      default: "",
      meaning: text,
    };
  }
  return { key, takes: expectation(field) ?? "", default: shownDefault(field), meaning: text };
}

function shownDefault(field: Field): string {
  if (!isOptional(field)) return "required";
  const value = defaultOf(field);
  return value === null ? (fallbackOf(field) ?? "") : `\`${value}\``;
}

function filterRow([key, { kind, meaning: text }]: readonly [string, FilterField]): Row {
  return { key, takes: kinds[kind], default: "", meaning: text };
}

const kinds = {
  strings: "a list of strings",
  string: "a string",
  boolean: "true or false",
} as const;

function markdown(rows: readonly Row[]): string {
  const lines = rows.map(({ key, takes, default: value, meaning: text }) => {
    return `| \`${key}\` | ${[takes, value, text].map(cell).join(" | ")} |`;
  });
  return ["| key | takes | default | meaning |", "|---|---|---|---|", ...lines].join("\n");
}

function cell(text: string): string {
  return text
    .replaceAll("|", "\\|")
    .replace(/`[^`]*`|</g, (part) => (part === "<" ? "&lt;" : part));
}

/** The part of the reference page on the providers of models, as markdown. */
function providerReference(): string {
  const rows = providers.filter((one) => one !== "scripted").map(row);
  const head = [
    "| provider | `api` | `baseUrl` | `oauth_token` is sent as | window of unknown models |",
    "|---|---|---|---|---|",
  ];
  return [providerIntro, [...head, ...rows].join("\n"), notes].join("\n\n");
}

const providerIntro = `## Providers

Defaults of each provider. \`[models.<name>]\` overrides them.`;

const notes = `A \`baseUrl\` works with and without its version (\`/v1\`, \`/v1beta\`), with a trailing slash, and with the path of an
endpoint such as \`/v1/chat/completions\`. If a server uses a path without a version, or with another one, write the whole address of
the endpoint.

With \`authType = "api_key"\`, the key is sent as \`x-api-key\` (anthropic-messages), \`x-goog-api-key\` (google-generative-ai) or
\`Authorization: Bearer\` (all others). OAuth tokens for anthropic are sent in the same way as Claude Code sends them.

Requests to models that are not in the built-in list set no output limit, except for anthropic-messages, which requires one (64,000
tokens, or less for older models). Such models reason like the provider's current models; with groq, mistral and custom they reason
only if \`thinkingLevel\` is set. \`al start\` and \`al doctor\` list unknown models (except of custom) until \`contextWindow\` is set.`;

function row(provider: Provider): string {
  const { api, contextWindow } = modelDefaults(provider, "");
  const url = provider === "custom" ? "required" : `\`${apiBaseUrl(null, { provider, api })}\``;
  const token = api === "google-generative-ai" ? "not supported" : "`Authorization: Bearer`";
  const window = contextWindow.toLocaleString("en");
  return `| ${[provider, `\`${api}\``, url, token, `${window} tokens`].join(" | ")} |`;
}
