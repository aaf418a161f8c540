import {
  concat,
  defer,
  exhaustMap,
  from,
  interval,
  map,
  mergeMap,
  pairwise,
  startWith,
} from "rxjs";
import type { Observable } from "rxjs";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { credentialStamps } from "./credential-stamps.ts";
import { webhookSecretType } from "./credential-types.ts";

/** The secret that a webhook source names; `credential` is null without one. */
type WebhookSecret = { readonly type: string; readonly credential: string | null };

/** The users of credentials, as they are configured now. */
export interface CredentialUsers {
  readonly webhooks: () => Readonly<Record<string, WebhookSecret & { readonly name: string }>>;
  readonly agents: () => Iterable<{
    readonly config: Pick<AgentConfig, "credentials" | "models"> | null;
  }>;
}

/** A change is noticed within this time. */
const pollMs = 2_000;

/** The credentials of the store in `home`, at once and then again and again. Reads no value. */
export function pollCredentials(home: string, everyMs = pollMs): Observable<Stamps> {
  const look = defer(() => credentialStamps(home));
  return concat(look, interval(everyMs).pipe(exhaustMap(() => look)));
}

/**
 * Log messages about used credentials that changed. Secrets are read when they are needed, so a change needs no further
 * action. The files are polled, as the API key's is, because a watch does not survive every way of replacing a file.
 */
export function credentialChanges(
  look$: Observable<Stamps>,
  users: CredentialUsers,
): Observable<string> {
  return look$.pipe(
    pairwise(),
    mergeMap(([before, now]) => changed(before, now)),
    mergeMap((name) => from(messagesFor(name, users))),
  );
}

/** Whether each look differs from the one before; true for the first. */
export function credentialsDiffer(look$: Observable<Stamps>): Observable<boolean> {
  return look$.pipe(
    map((stamps) => JSON.stringify([...stamps])),
    startWith(null),
    pairwise(),
    map(([before, now]) => before !== now),
  );
}

type Stamps = ReadonlyMap<string, string>;

function changed(before: Stamps, now: Stamps): readonly (readonly [string, string])[] {
  const names = [...new Set([...before.keys(), ...now.keys()])];
  return names.flatMap((name) => {
    if (before.get(name) === now.get(name)) return [];
    const what = !now.has(name) ? "was removed" : before.has(name) ? "changed" : "was added";
    return [[name, what] as const];
  });
}

function messagesFor([name, what]: readonly [string, string], users: CredentialUsers): string[] {
  const sources = Object.values(users.webhooks())
    .filter(({ type, credential }) => name === `${webhookSecretType(type)}:${credential}`)
    .map((source) => `webhook source ${source.name}`);
  const isOfAgents = [...users.agents()].some(({ config }) => isNamedBy(config, name));
  const whom = isOfAgents ? ["runs that start from now on", ...sources] : sources;
  return whom.length === 0 ? [] : [`credential ${name} ${what}; this affects ${whom.join(", ")}`];
}

function isNamedBy(
  config: Pick<AgentConfig, "credentials" | "models"> | null,
  name: string,
): boolean {
  if (config === null) return false;
  const references = [...config.credentials, ...config.models.map(({ credential }) => credential)];
  return references.some((one) => one === name || `${one}:default` === name);
}
