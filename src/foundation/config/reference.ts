import { providers, type Provider } from "../../../streams/agent-config.ts";
import { modelDefaults, apiBaseUrl } from "../contracts/model-defaults.ts";
import { z } from "zod";
import type { FilterField } from "./config-key.ts";
import { agentSchema } from "./agent-keys.ts";
import { defaultOf, expectation, isOptional, meaning, unwrapped } from "./validate.ts";
import { projectSchema } from "./project-schema.ts";
import { commonFields } from "./webhook-bindings.ts";

/** The reference page of both files, as markdown: every key with its type, its default and its purpose. */
export function configReference(): string {
  return `${[
    intro,
    "## The project: `config.toml`",
    ...sections({ table: projectSchema, kind: "one" }),
    "## An agent: `agents/<name>/config.toml`",
    ...sections({ table: agentSchema, kind: "one" }),
    providerReference(),
  ].join("\n\n")}\n`;
}

const intro = `# Keys of config.toml

What the two files take, made from the schema that they are checked by; \`al config --schema project\` and
\`al config --schema agent\` print it for editors. A key without a default may be left out unless it says "required".
A change counts for runs that start once the file is saved.`;

interface Row {
  readonly key: string;
  readonly takes: string;
  readonly default: string;
  readonly meaning: string;
}

type Field = z.core.$ZodType;

/** The table of a TOML table's own keys, then a section for each table in it. */
function sections({ table, kind }: InnerTable): string[] {
  const fields = Object.entries<Field>(table.shape);
  const rows = fields.filter(([, field]) => innerTable(field) === null).map(rowOf);
  // The only list of tables is that of filters.
  const more = kind === "list" ? Object.entries(commonFields).map(filterRow) : [];
  return [
    ...(rows.length === 0 ? [] : [markdown([...rows, ...more])]),
    ...fields.flatMap(([key, field]) => section(key, field)),
  ];
}

function section(key: string, field: Field): string[] {
  const inner = innerTable(field);
  if (inner === null) return [];
  const text = [meaning(field), ...(key === "webhooks" ? [webhookNotes[inner.kind]] : [])];
  const title = `### \`${titleOf(key, field, inner.kind)}\``;
  return [title, text.filter(Boolean).join(" "), ...sections(inner)];
}

const allServices = "[All services and their filters](../../features/webhooks/reference.md).";
const webhookNotes = { one: "", named: allServices, list: allServices };

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
  const value = isOptional(field) ? (defaultOf(field) ?? "") : "required";
  return { key, takes: expectation(field) ?? "", default: value, meaning: text };
}

function filterRow([key, { kind, meaning: text }]: readonly [string, FilterField]): Row {
  return { key, takes: kinds[kind], default: "", meaning: text };
}

const kinds = { strings: "a list of texts", string: "text", boolean: "true or false" } as const;

function markdown(rows: readonly Row[]): string {
  const lines = rows.map(({ key, takes, default: value, meaning: text }) => {
    const shown = value === "" || value === "required" ? value : `\`${value}\``;
    return `| \`${key}\` | ${[takes, shown, text].map(cell).join(" | ")} |`;
  });
  return ["| key | takes | default | meaning |", "|---|---|---|---|", ...lines].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

/** The part of the reference page on the providers of models, as markdown. */
function providerReference(): string {
  const rows = providers.filter((one) => one !== "scripted").map(row);
  const head = [
    "| provider | `api` | `baseUrl` | `oauth_token` is sent as | an unknown model's window |",
    "|---|---|---|---|---|",
  ];
  return [providerIntro, [...head, ...rows].join("\n"), notes].join("\n\n");
}

const providerIntro = `## The providers of models

How each is asked where \`[models.<name>]\` says nothing else.`;

const notes = `A \`baseUrl\` counts with and without its version (\`/v1\`, \`/v1beta\`), with a slash at its end and with the path of an
endpoint, such as \`/v1/chat/completions\`. A server with a path of its own and another version, or none, is asked under
the path as it stands; write the endpoint's whole address for one without version and path.

A key with \`authType = "api_key"\` is sent as \`x-api-key\` to anthropic-messages, as \`x-goog-api-key\` to
google-generative-ai, and else as \`Authorization: Bearer\`. An OAuth token is sent to anthropic as Claude Code sends it.

A model that is not in pi's list is asked without a limit of its answer (anthropic-messages requires one: 64,000 tokens, or
what an older model allows) and reasons as the provider's current models do; with groq, mistral and custom it reasons only
where \`thinkingLevel\` says so. \`al start\` and \`al doctor\` name such models of all providers but custom until \`contextWindow\` is set.`;

function row(provider: Provider): string {
  const { api, contextWindow } = modelDefaults(provider, "");
  const url = provider === "custom" ? "required" : `\`${apiBaseUrl(null, { provider, api })}\``;
  const token = api === "google-generative-ai" ? "(not taken)" : "`Authorization: Bearer`";
  const window = contextWindow.toLocaleString("en");
  return `| ${[provider, `\`${api}\``, url, token, `${window} tokens`].join(" | ")} |`;
}
