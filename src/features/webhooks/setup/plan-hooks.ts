import type { WebhookBinding } from "../../../../streams/agent-config.ts";
import type { WebhookSource } from "../../../foundation/config/project-config.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { githubHooks } from "./github.ts";
import { gitlabHooks } from "./gitlab.ts";
import { apiCaller, type CallApi, type Hook, type HookApi } from "./hook-api.ts";
import { linearHooks } from "./linear.ts";
import { stripeHooks } from "./stripe.ts";

/** By provider type. The others' webhooks are made on their pages: Sentry's belong to an app, Slack's to its manifest. */
const apis: ReadonlyMap<string, HookApi> = new Map([
  ["github", githubHooks],
  ["gitlab", gitlabHooks],
  ["linear", linearHooks],
  ["stripe", stripeHooks],
]);

/** The API of a provider type; null if its webhooks are made by hand. */
export function hookApi(type: string): HookApi | null {
  return apis.get(type) ?? null;
}

/** Requests to the API of a source, with the stored credential; its `instance` is `default` if not given. */
export async function sourceCaller(
  api: HookApi,
  source: WebhookSource,
  { home, instance = "default" }: { readonly home: string; readonly instance?: string },
): Promise<CallApi> {
  const { fields } = await loadCredential(home, `${api.credential}:${instance}`);
  const token = fields.token ?? fields.key ?? "";
  return apiCaller(api, (source.api ?? api.address).replace(/\/$/, ""), token);
}

interface Listener {
  readonly webhooks: readonly WebhookBinding[];
}

/** The addresses at which the gateway receives a source; the first one is that of new webhooks. */
export function hookUrls(publicUrl: string, { type, name }: WebhookSource): readonly string[] {
  const base = `${publicUrl}/webhooks/${type}`;
  return [`${base}/${encodeURIComponent(name)}`, base];
}

/** The repositories that agents name in their filters. */
export function namedTargets(agents: readonly Listener[], source: string): readonly string[] {
  const named = bindingsOf(agents, source).flatMap(({ filters }) => listOf(filters.repos));
  return [...new Map(named.map((repo) => [repo.toLowerCase(), repo])).values()].sort();
}

/** The events that agents listen to at a target, by the names of filters; null for any, empty if no agent listens. */
export function eventsAt(
  agents: readonly Listener[],
  source: string,
  target: string,
): readonly string[] | null {
  return eventsOf(bindingsOf(agents, source).filter(({ filters }) => isAt(filters, target)));
}

/** The events that agents listen to at any target. */
export function eventsAnywhere(
  agents: readonly Listener[],
  source: string,
): readonly string[] | null {
  return eventsOf(bindingsOf(agents, source));
}

function eventsOf(heard: readonly WebhookBinding[]): readonly string[] | null {
  const lists = heard.map(({ filters }) => filters.events ?? filters.resources);
  if (lists.includes(undefined)) return null;
  return [...new Set(lists.flatMap((list) => listOf(list)))].sort();
}

/** How a webhook differs from the agents' filters, for a person; empty if it fits them. */
export function differences(found: Hook, wanted: readonly string[]): readonly string[] {
  const missing = wanted.filter((event) => !found.events.includes(event));
  const surplus = found.events.filter((event) => !wanted.includes(event));
  return [
    ...(found.isActive ? [] : ["it is switched off"]),
    ...(missing.length === 0 ? [] : [`it lacks ${missing.join(", ")}`]),
    ...(surplus.length === 0 ? [] : [`no agent listens to ${surplus.join(", ")}`]),
  ];
}

function bindingsOf(agents: readonly Listener[], source: string): readonly WebhookBinding[] {
  return agents.flatMap(({ webhooks }) => webhooks.filter((binding) => binding.source === source));
}

function isAt({ repos, orgs, org }: WebhookBinding["filters"], target: string): boolean {
  const names = (list: WebhookBinding["filters"][string] | undefined, name: string) =>
    list === undefined || listOf(list).some((one) => one.toLowerCase() === name.toLowerCase());
  const [owner = ""] = target.split("/");
  return names(repos, target) && names(orgs, owner) && names(org, owner);
}

function listOf(value: WebhookBinding["filters"][string] | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" ? value : [];
}
