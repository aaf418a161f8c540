import { z } from "zod";
import type { FilterField } from "../contracts/webhook-filters.ts";
import { agentSchema } from "./agent-keys.ts";
import { defaultOf, expectation, isOptional, meaning, unwrapped } from "./explain-schema.ts";
import { projectSchema } from "./project-schema.ts";
import { providerReference } from "./provider-reference.ts";
import { commonFields } from "./webhook-bindings.ts";

/** The reference page of both files, as markdown: every key with what it takes, its default and what it is for. */
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

const providers = "[All services and their filters](../../features/webhooks/reference.md).";
const webhookNotes = { one: "", named: providers, list: providers };

interface InnerTable {
  readonly table: z.ZodObject;
  /** `[key]`, `[key.<name>]` or `[[key]]` */
  readonly kind: "one" | "named" | "list";
}

function innerTable(field: Field): InnerTable | null {
  const inner = unwrapped(field);
  // A table that says itself what it takes is short: it is a value in its row.
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

/** The error of tables of which there may be several holds the form of their headers. */
function titleOf(key: string, field: Field, kind: InnerTable["kind"]): string {
  return kind === "one" ? `[${key}]` : (/\[.*\]/.exec(expectation(field) ?? "")?.[0] ?? key);
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
