import type { UpstreamModel } from "../../contracts/model-gateway.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import { isObject, listAt } from "./json.ts";
import type { Json } from "./json.ts";
import type { ProviderSideRules } from "./wire-api.ts";

/** Throws a GatewayProblem when the request would make the provider act in a way that the model's config doesn't allow. */
export function assertNothingBeyondAnswer(
  body: Json,
  { name, providerTools }: Pick<UpstreamModel, "name" | "providerTools">,
  rules: ProviderSideRules,
): void {
  const names = [...providerSideNames(body, rules)];
  const refused = names.filter((one) => !providerTools.includes(one));
  if (refused.length === 0) return;
  const list = refused.map((one) => `"${one}"`).join(", ");
  const message = `the request has ${list}, which the provider would act on outside of the run; to allow that, add it to providerTools of [models.${name}]`;
  throw new GatewayProblem({ status: 403, code: "provider_tool", message });
}

/** The names of everything in the request that the provider would do beyond its answer. */
function providerSideNames(body: Json, rules: ProviderSideRules): ReadonlySet<string> {
  const declared = listAt(body, "tools").flatMap(rules.toolNames);
  const names = new Set([...rules.bodyNames(body), ...declared]);
  for (const part of partsOf(body, rules)) {
    const name = rules.contentName(part);
    if (name !== null) names.add(name);
    // Some messages declare tools, too.
    for (const tool of listAt(part, "tools").flatMap(rules.toolNames)) names.add(tool);
  }
  return names;
}

/** The messages of a request and what is in them, without tools and what is any JSON. */
export function* partsOf(
  body: Json,
  { messageFields, opaqueFields }: ProviderSideRules,
): Generator<Json> {
  const waiting: unknown[] = messageFields.map((field) => body[field]);
  // A list in place of recursion: messages nest as deep as their writer likes.
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (Array.isArray(node)) pushContainers(waiting, node);
    if (!isObject(node)) continue;
    yield node;
    const fields = Object.entries(node).filter(
      ([field, value]) => !opaqueFields.has(field) && !(field === "tools" && Array.isArray(value)),
    );
    pushContainers(
      waiting,
      fields.map(([, value]) => value),
    );
  }
}

function pushContainers(waiting: unknown[], list: readonly unknown[]): void {
  for (const value of list) if (typeof value === "object" && value !== null) waiting.push(value);
}

/** The names whose field is set to something else than its harmless values; null and absence are always harmless. */
export function fieldNames(
  body: Json,
  fields: Readonly<Record<string, readonly unknown[]>>,
): readonly string[] {
  return Object.entries(fields)
    .filter(([name, harmless]) => !isHarmless(body[name], harmless))
    .map(([name]) => name);
}

function isHarmless(value: unknown, harmless: readonly unknown[]): boolean {
  if (value === undefined || value === null || harmless.includes(value)) return true;
  return Array.isArray(value) && value.length === 0;
}

/** `web_search_20250305`, `web_search_2025_08_26` and `web_search_preview` are all versions of `web_search`. */
export function unversioned(tool: string): string {
  return tool.replace(/_(preview|\d{8}|\d{4}_\d{2}_\d{2})(_.*)?$/, "");
}

/**
 * Whether a text is an address rather than the data itself, which is a `data:` URL or plain base64. Servers differ in
 * what else they take for an address: some ignore control characters in it.
 */
export function isAddress(value: unknown): boolean {
  return typeof value === "string" && !/^data:/i.test(value) && !/^[\w+/=\s-]*$/.test(value);
}
