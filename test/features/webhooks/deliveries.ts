import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Payload } from "../../../src/features/webhooks/json.ts";
import { interpret, type Interpreted } from "../../../src/features/webhooks/interpret.ts";
import type { WebhookFormat } from "../../../src/foundation/config/webhook-format.ts";
import { forSource, type Headers, type Provider } from "../../../src/features/webhooks/provider.ts";
import { providerTable } from "../../../src/features/webhooks/providers/table.ts";
import { valueAt } from "../../../streams/where.ts";
import payloads from "./payloads.json" with { type: "json" };

const require = createRequire(import.meta.url);

interface GithubExample {
  readonly name: string;
  readonly examples: readonly Payload[];
}

/** Real deliveries of 58 GitHub events, from npm. */
const githubExamples = require("@octokit/webhooks-examples") as readonly GithubExample[];

/** The first example of an event with this action; the first at all without. */
export function githubExample(event: string, action?: string): Payload {
  const { examples } = githubExamples.find(({ name }) => name === event) ?? { examples: [] };
  const found = examples.find((example) => action === undefined || example.action === action);
  if (found === undefined) throw new Error(`no example of ${event} ${action ?? ""}`);
  return found;
}

export function providerOf(type: string): Provider {
  const provider = providerTable.get(type);
  if (provider === undefined) throw new Error(`no provider ${type}`);
  return provider;
}

/** Headers that say which event it is, for the providers that have one. */
export function eventHeaders(type: string, event: string): Headers {
  const { eventHeader } = providerOf(type);
  return eventHeader === undefined ? {} : { [eventHeader]: event };
}

export type FilterValue = string | boolean | readonly string[];

/** Names a payload of a provider: one of `payloads.json`, or one of `@octokit/webhooks-examples` by event and action. */
interface Sample {
  readonly type: string;
  readonly event?: string;
  readonly sample?: string;
  readonly example?: string;
  readonly payload?: Payload;
  readonly what?: string;
  /** Headers with more than the event. */
  readonly headers?: Headers;
  /** Keys of a generic source. */
  readonly format?: WebhookFormat;
  /** What it is read as, without texts of over 120 characters and attributes equal to their event's field. */
  readonly read?: object;
  /** Filters by field: a value that lets the payload through, and one that doesn't. */
  readonly filters?: Readonly<Record<string, readonly [FilterValue, FilterValue]>>;
}

/** Reads the lines of a file in `providers/`: payloads, and what is expected of each. */
export const samplesOf = (file: string): readonly Sample[] =>
  readFileSync(join(import.meta.dirname, "providers", file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Sample);

export function readSample({ type, sample, example = "", ...given }: Sample): Interpreted {
  const [name = "", action] = example.split(" ");
  const found = sample === undefined ? given.payload : (valueAt(payloads, sample) as Payload);
  const payload = found ?? githubExample(name, action);
  const headers = { ...eventHeaders(type, given.event ?? name), ...given.headers };
  return read(type, payload, headers, given.format);
}

/** An event as it is normalized and as filters see it. */
export function read(
  type: string,
  payload: Payload,
  headers: Headers = {},
  format: WebhookFormat = {},
): Interpreted {
  const at = Date.parse("2026-11-21T00:00:00.000Z");
  const provider = forSource(providerOf(type), format);
  return interpret(provider, { payload, headers }, { id: "r1", at, source: type });
}

export const bytes = (value: unknown): Buffer =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
