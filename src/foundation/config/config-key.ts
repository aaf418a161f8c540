import type { AgentFact } from "../contracts/operator-api.ts";
import type { z } from "zod";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { Diagnostics } from "./validate.ts";
import type { ProjectConfig } from "./project-config.ts";
import type { SchemaFile } from "./agent-files.ts";

/** Facts for resolving agents, beside the project's config. */
export interface KnownToAgents {
  readonly filters: FilterTable;
  /** The types that the program knows; others are allowed. */
  readonly credentialTypes: readonly string[];
  /** Whether the credential `reference` sets the environment variable `variable` in a run. */
  readonly credentialSets: (reference: string, variable: string) => boolean;
  /** Version of the program, for `compatibility`. */
  readonly version: string;
}

/** Input that the value of an agent's key may depend on. */
export interface AgentContext extends KnownToAgents {
  /** The agent's name. */
  readonly agent: string;
  readonly project: ProjectConfig;
  /** The agent's. */
  readonly timezone: string;
  /** JSON files of the agent's directory, by name. */
  readonly schemas: ReadonlyMap<string, SchemaFile>;
  readonly diagnostics: Diagnostics;
}

/** Replaces a secret text by another: equal for equal secrets. */
export type Mask = (secret: string) => string;

/** Context of a config stored with a run, which holds no secret and no path of this machine. */
export interface CanonicalContext {
  readonly mask: Mask;
  readonly projectDir: string;
}

/** How a key of a resolved config is shown in the API and in the description of a change. */
interface ShownKey<Value> {
  /** The resolved value, for the API. */
  readonly value: z.ZodType<Value, Value>;
  /** A reader's name for the key, if it is not the file's. */
  readonly label?: string;
  /** Values are long or private: a description only names the key. */
  readonly isLong?: true;
  /** The value as the version of a run holds it, if it differs from the file's. */
  canonical?(value: Value, context: CanonicalContext): unknown;
  /** Describes a change that needs more than both values. */
  change?(before: Value, after: Value): string;
}

/** The properties of a key in a file. */
export interface FileKey<Name extends string, Field extends z.ZodType, Value, Context> {
  /** The key's name in the file. */
  readonly inFile: Name;
  /** The schema of the file's value; its description is the key's on the reference page. */
  readonly field: Field;
  /** The resolved value, with the fallback of an unset key. */
  resolve(given: z.output<Field>, context: Context): Value;
  /** The value as the file holds it, null for an unset key; absent if it equals the resolved one. */
  written?(value: Value, projectDir: string): unknown;
}

interface ShownAgentKey<Value> extends ShownKey<Value> {
  /** Lines on the agent's page. */
  facts?(value: Value, shown: ShownAgent): readonly AgentFact[];
}

/** Context for the facts of an agent. */
export interface ShownAgent {
  readonly config: AgentConfig;
  /** A cron expression in words; null if it can't be described. */
  readonly describe: (expression: string) => string | null;
}

/** A fact with one value; no fact for null. */
export function fact(label: string, value: string | null): readonly AgentFact[] {
  return value === null ? [] : [{ label, values: [value] }];
}

/** A fact with several values; no fact without any. */
export function factOf(label: string, values: readonly string[]): readonly AgentFact[] {
  return values.length === 0 ? [] : [{ label, values }];
}

/** A key of an agent's config. Only the name, the parts of SKILL.md and the image's hash are not in the file. */
export type AgentKey<Value> = ShownAgentKey<Value> &
  Partial<FileKey<string, z.ZodType, Value, AgentContext>>;

/** Infers the types of a key that is in the file. */
export function agentKey<const Name extends string, Field extends z.ZodType, Value>(
  key: ShownAgentKey<Value> & FileKey<Name, Field, Value, AgentContext>,
): ShownAgentKey<Value> & FileKey<Name, Field, Value, AgentContext> {
  return key;
}

/** Input that the value of a key of `[models.<name>]` may depend on. */
interface ModelContext {
  readonly name: string;
  readonly provider: string;
  readonly projectDir: string;
}

interface ShownModelKey<Value> extends Pick<ShownKey<Value>, "value" | "canonical"> {
  /** Text on the agent's page; null for no text. */
  fact?(value: Value): string | null;
}

/** A key of `[models.<name>]`. Only the name is not in the table. */
export type ModelKey<Value> = ShownModelKey<Value> &
  Partial<FileKey<string, z.ZodType, Value, ModelContext>>;

export function modelKey<const Name extends string, Field extends z.ZodType, Value>(
  key: ShownModelKey<Value> & FileKey<Name, Field, Value, ModelContext>,
): ShownModelKey<Value> & FileKey<Name, Field, Value, ModelContext> {
  return key;
}

/** One filter field that a `[[webhooks]]` entry may have. */
export interface FilterField {
  readonly kind: "strings" | "string" | "boolean";
  /** The meaning in one sentence for the reference page and the editor. */
  readonly meaning: string;
  /** The allowed values, where the provider has a closed set. */
  readonly values?: readonly string[];
}

/** Filter fields by provider type; its keys are the known types of `[webhooks.<source>]`. */
export type FilterTable = Readonly<Record<string, Readonly<Record<string, FilterField>>>>;

/** The same record with each value masked. */
export function maskValues(
  values: Readonly<Record<string, string>>,
  mask: Mask,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, mask(value)]));
}

/** An address without its name and password. */
export function maskUserInfo(address: string, mask: Mask): string {
  return address.replace(/(?<=:\/\/)[^/@]+(?=@)/, mask);
}
