import type { WebhookBinding } from "../../streams/agent-config.ts";
import type { FilterField, FilterTable } from "../contracts/webhook-filters.ts";
import { webhookSchema } from "./agent-schema.ts";
import type { AgentTable } from "./agent-schema.ts";
import { didYouMean } from "../contracts/did-you-mean.ts";
import type { ProblemSheet } from "./problem-sheet.ts";
import type { ProjectConfig } from "./project-config.ts";
import { sayNames, sayPath, sayValue } from "./say.ts";
import type { TomlPath } from "./toml-locator.ts";

type Entry = AgentTable["webhooks"][number];
type Fields = Readonly<Record<string, FilterField>>;
type FilterValue = WebhookBinding["filters"][string];

/** Filters that every type of source has: what keeps an agent from starting itself. */
export const commonFields: Fields = {
  ignoreSenders: { kind: "strings", meaning: "Events of these senders are ignored." },
  ignoreBots: { kind: "boolean", meaning: "Events of bots are ignored." },
};

/** The agent's `[[webhooks]]` against the project's sources and their types' filter fields. */
export function webhookBindings(
  entries: readonly Entry[],
  project: ProjectConfig,
  filters: FilterTable,
  sheet: ProblemSheet,
): WebhookBinding[] {
  return entries.flatMap((entry, index) => {
    const path = ["webhooks", index];
    const type = sourceType(entry.source, project, path, sheet);
    if (type === null) return [];
    const fields = { ...filters[type], ...commonFields };
    const binding = {
      source: entry.source,
      type,
      filters: filtersOf(entry, type, fields, path, sheet),
    };
    return [entry.where === undefined ? binding : { ...binding, where: entry.where }];
  });
}

function sourceType(
  source: string,
  { webhooks }: ProjectConfig,
  path: TomlPath,
  sheet: ProblemSheet,
): string | null {
  if (Object.hasOwn(webhooks, source)) return webhooks[source]?.type ?? null;
  const known = Object.keys(webhooks);
  const advice =
    known.length === 0
      ? `the project's config.toml has none; add [webhooks.${source}] there`
      : `expected one of ${sayNames(known)}${didYouMean(source, known)}`;
  const at = [...path, "source"];
  sheet.error(at, `${sayPath(at)} ${sayValue(source)} is not a webhook source; ${advice}`);
  return null;
}

function filtersOf(
  given: Entry,
  type: string,
  fields: Fields,
  path: TomlPath,
  sheet: ProblemSheet,
): Record<string, FilterValue> {
  const result: Record<string, FilterValue> = {};
  for (const [key, value] of Object.entries(given)) {
    if (Object.hasOwn(webhookSchema.shape, key)) continue;
    const at = [...path, key];
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field === undefined) {
      sheet.error(at, unknownField(key, type, Object.keys(fields)), "key");
    } else if (fits(field, value)) {
      result[key] = value;
      checkValues(field, value, at, sheet);
    } else {
      sheet.error(at, `${sayPath(at)} is ${sayValue(value)}; expected ${expected[field.kind]}`);
    }
  }
  return result;
}

function unknownField(key: string, type: string, known: readonly string[]): string {
  const near = didYouMean(key, known);
  return `${sayValue(key)} is not a filter of ${type} webhooks; expected one of ${sayNames(known)}${near}`;
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
  sheet: ProblemSheet,
): void {
  const name = sayPath(path);
  if (typeof value === "object" && value.length === 0) {
    sheet.warn(
      path,
      `${name} is an empty list, which no event meets; take it out to let all events pass`,
    );
  }
  const { values: known } = field;
  if (known === undefined || typeof value === "boolean") return;
  for (const item of typeof value === "string" ? [value] : value) {
    if (known.includes(item)) continue;
    const near = didYouMean(item, known);
    sheet.error(path, `${name} has ${sayValue(item)}; expected ${sayNames(known)}${near}`);
  }
}
