import { z } from "zod";
import type { WebhookBinding } from "../../../streams/agent-config.ts";
import { agentKey, factOf, type FilterField, type FilterTable } from "./config-key.ts";
import { list, pattern, text } from "./fields.ts";
import { didYouMean } from "../contracts/did-you-mean.ts";
import type { Diagnostics } from "./validate.ts";
import type { ProjectConfig } from "./project-config.ts";
import { formatNames, formatPath, formatValue } from "./format-value.ts";
import type { TomlPath } from "./toml-locator.ts";

const whereError = 'a table of paths and values, e.g. { "issue.level" = "fatal" }';
const whereValue = z.union([z.string(), z.number(), z.boolean()], {
  error: 'text, a number, true or false; a path is one key in quotes, e.g. "issue.level"',
});
const maxWherePaths = 32;

/** The filter fields depend on the source's type, which is in the project's config. */
const webhookSchema = z.looseObject(
  {
    source: text("the name of a webhook source of the project").describe(
      "The webhook source whose deliveries start the agent. All other keys are filters, and all of them must match.",
    ),
    where: z
      .record(pattern(/^[^.]+(\.[^.]+)*$/, 'a path such as "issue.level"'), whereValue, {
        error: whereError,
      })
      .refine((where) => Object.keys(where).length <= maxWherePaths, {
        error: `at most ${maxWherePaths} paths`,
      })
      .optional()
      .describe(
        "Values that the payload must contain, by dotted path. A number in a path is a list index.",
      ),
  },
  { error: "tables [[webhooks]]" },
);

type Entry = z.output<typeof webhookSchema>;
type Fields = Readonly<Record<string, FilterField>>;
type FilterValue = WebhookBinding["filters"][string];

/** Filters of every type of source; they keep an agent from starting itself. */
export const commonFields: Fields = {
  ignoreSenders: { kind: "strings", meaning: "Events of these senders are ignored." },
  ignoreBots: { kind: "boolean", meaning: "Events of bots are ignored." },
};

/** The agent's `[[webhooks]]` against the project's sources and their types' filter fields. */
function webhookBindings(
  entries: readonly Entry[],
  project: ProjectConfig,
  filters: FilterTable,
  diagnostics: Diagnostics,
): WebhookBinding[] {
  return entries.flatMap((entry, index) => {
    const path = ["webhooks", index];
    const type = sourceType(entry.source, project, path, diagnostics);
    if (type === null) return [];
    const fields = { ...filters[type], ...commonFields };
    const binding = {
      source: entry.source,
      type,
      filters: filtersOf(entry, type, fields, path, diagnostics),
    };
    return [entry.where === undefined ? binding : { ...binding, where: entry.where }];
  });
}

function sourceType(
  source: string,
  { webhooks }: ProjectConfig,
  path: TomlPath,
  diagnostics: Diagnostics,
): string | null {
  if (Object.hasOwn(webhooks, source)) return webhooks[source]?.type ?? null;
  const known = Object.keys(webhooks);
  const advice =
    known.length === 0
      ? `the project's config.toml has none; add [webhooks.${source}] there`
      : `expected one of ${formatNames(known)}${didYouMean(source, known)}`;
  const at = [...path, "source"];
  diagnostics.error(
    at,
    `${formatPath(at)} ${formatValue(source)} is not a webhook source; ${advice}`,
  );
  return null;
}

function filtersOf(
  given: Entry,
  type: string,
  fields: Fields,
  path: TomlPath,
  diagnostics: Diagnostics,
): Record<string, FilterValue> {
  const result: Record<string, FilterValue> = {};
  for (const [key, value] of Object.entries(given)) {
    if (Object.hasOwn(webhookSchema.shape, key)) continue;
    const at = [...path, key];
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field === undefined) {
      diagnostics.error(at, unknownField(key, type, Object.keys(fields)), "key");
    } else if (fits(field, value)) {
      result[key] = value;
      checkValues(field, value, at, diagnostics);
    } else {
      diagnostics.error(
        at,
        `${formatPath(at)} is ${formatValue(value)}; expected ${expected[field.kind]}`,
      );
    }
  }
  return result;
}

function unknownField(key: string, type: string, known: readonly string[]): string {
  const near = didYouMean(key, known);
  return `${formatValue(key)} is not a filter of ${type} webhooks; expected one of ${formatNames(known)}${near}`;
}

const expected: Record<FilterField["kind"], string> = {
  string: "text in quotes",
  boolean: "true or false",
  strings: 'a list of texts, e.g. ["a", "b"]',
};

function fits({ kind }: FilterField, value: unknown): value is FilterValue {
  if (kind !== "strings") return typeof value === kind;
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function checkValues(
  field: FilterField,
  value: FilterValue,
  path: TomlPath,
  diagnostics: Diagnostics,
): void {
  const name = formatPath(path);
  if (typeof value === "object" && value.length === 0) {
    diagnostics.warn(
      path,
      `${name} is an empty list, which no event matches; remove it to let all events pass`,
    );
  }
  const { values: known } = field;
  if (known === undefined || typeof value === "boolean") return;
  for (const item of typeof value === "string" ? [value] : value) {
    if (known.includes(item)) continue;
    const near = didYouMean(item, known);
    diagnostics.error(
      path,
      `${name} has ${formatValue(item)}; expected ${formatNames(known)}${near}`,
    );
  }
}

const bindingSchema = z.object({
  source: z.string(),
  type: z.string(),
  filters: z.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string()).readonly()])),
  where: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .exactOptional()
    .meta({ description: "Values that the payload must have, by dotted paths" }),
});

export const webhooksKey = agentKey({
  inFile: "webhooks",
  field: list(webhookSchema, "tables [[webhooks]]")
    .default([])
    .describe("Deliveries that start the agent."),
  resolve: (entries, { project, filters, diagnostics }): readonly WebhookBinding[] =>
    webhookBindings(entries, project, filters, diagnostics),
  written: (bindings) => bindings.map(writtenBinding),
  value: z.array(bindingSchema).readonly(),
  isLong: true,
  facts: (bindings) => factOf("Webhooks", bindings.map(bindingText)),
});

function writtenBinding({ source, filters, where }: WebhookBinding): object {
  return { source, ...filters, ...(where === undefined ? {} : { where }) };
}

/** `github: repos acme/website; actions opened, labeled; where issue.number is 7`. */
function bindingText({ source, filters, where = {} }: WebhookBinding): string {
  const texts = [
    ...Object.entries(filters).map(
      ([name, value]) => `${name} ${Array.isArray(value) ? value.join(", ") : String(value)}`,
    ),
    ...Object.entries(where).map(([path, value]) => `where ${path} is ${JSON.stringify(value)}`),
  ];
  return `${source}: ${texts.length === 0 ? "everything" : texts.join("; ")}`;
}
