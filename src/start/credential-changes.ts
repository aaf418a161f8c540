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
import type { AgentConfig } from "../../streams/agent-config.ts";
import type { ProjectConfig } from "../config/project-config.ts";
import { credentialStamps } from "../credentials/credential-stamps.ts";
import { webhookSecretType } from "../credentials/credential-types.ts";

/** What names credentials now. */
export interface CredentialUsers {
  readonly webhooks: () => ProjectConfig["webhooks"];
  readonly agents: () => Iterable<{
    readonly config: Pick<AgentConfig, "credentials" | "models"> | null;
  }>;
}

/** A change is noticed after this at most, in ms. */
const lookEveryMs = 2_000;

/** The credentials of the store in `home`, at once and then again and again. Reads no value. */
export function credentialLooks(home: string, everyMs = lookEveryMs): Observable<Stamps> {
  const look = defer(() => credentialStamps(home));
  return concat(look, interval(everyMs).pipe(exhaustMap(() => look)));
}

/**
 * Tells of credentials that changed from one look to the next and that the project uses. Secrets are read when they
 * are needed, so that nothing is to be done. Like the API key's, the files are looked at, which survives every way of
 * replacing one.
 */
export function credentialChanges(
  look$: Observable<Stamps>,
  users: CredentialUsers,
): Observable<string> {
  return look$.pipe(
    pairwise(),
    mergeMap(([before, now]) => changed(before, now)),
    mergeMap((name) => from(told(name, users))),
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
    const what = !now.has(name) ? "is gone" : before.has(name) ? "changed" : "is there now";
    return [[name, what] as const];
  });
}

function told([name, what]: readonly [string, string], users: CredentialUsers): string[] {
  const sources = Object.values(users.webhooks())
    .filter(({ type, credential }) => name === `${webhookSecretType(type)}:${credential}`)
    .map((source) => `webhook source ${source.name}`);
  const isOfAgents = [...users.agents()].some(({ config }) => isNamedBy(config, name));
  const whom = isOfAgents ? ["runs that start from now on", ...sources] : sources;
  return whom.length === 0
    ? []
    : [`credential ${name} ${what}; that counts for ${whom.join(", ")}`];
}

function isNamedBy(
  config: Pick<AgentConfig, "credentials" | "models"> | null,
  name: string,
): boolean {
  if (config === null) return false;
  const references = [...config.credentials, ...config.models.map(({ credential }) => credential)];
  return references.some((one) => one === name || `${one}:default` === name);
}
