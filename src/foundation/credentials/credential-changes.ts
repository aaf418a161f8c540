import {
  distinctUntilChanged,
  from,
  map,
  mergeMap,
  switchMap,
  concat,
  defer,
  exhaustMap,
  interval,
  pairwise,
  startWith,
} from "rxjs";
import type { Observable } from "rxjs";
import type { WebhookSource } from "../config/project-config.ts";
import { webhookSecretType } from "./credential-types.ts";
import { loadCredential, credentialStamps } from "./load-credential.ts";
import { reasonOf } from "../errors.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";

/** The secret that a webhook source names; `credential` is null without one. */
type WebhookSecret = { readonly type: string; readonly credential: string | null };

/** The current users of credentials. */
interface CredentialUsers {
  readonly webhooks: () => Readonly<Record<string, WebhookSecret & { readonly name: string }>>;
  readonly agents: () => Iterable<{
    readonly config: AgentConfig | null;
  }>;
}

/** A change is noticed within this time. */
const pollMs = 2_000;

/** The credentials of the store in `home`, at once and then periodically. Reads no value. */
export function pollCredentials(home: string, everyMs = pollMs): Observable<Stamps> {
  const look = defer(() => credentialStamps(home));
  return concat(look, interval(everyMs).pipe(exhaustMap(() => look)));
}

/**
 * Log messages about changes of used credentials. Secrets are read when they are needed, so a change needs no further
 * action. The files are polled, like the API key's, because a watch does not survive every way of replacing a file.
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

/** Whether each poll differs from the one before; true for the first. */
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
    const change = !now.has(name) ? "was removed" : before.has(name) ? "changed" : "was added";
    return [[name, change] as const];
  });
}

function messagesFor([name, change]: readonly [string, string], users: CredentialUsers): string[] {
  const sources = Object.values(users.webhooks())
    .filter(({ type, credential }) => name === `${webhookSecretType(type)}:${credential}`)
    .map((source) => `webhook source ${source.name}`);
  const configs = [...users.agents()].flatMap(({ config }) => config ?? []);
  const isNamed = (one: string | null) => one === name || `${one}:default` === name;
  const isOfRuns = configs.some(({ credentials, models }) =>
    [...credentials, ...models.map(({ credential }) => credential)].some(isNamed),
  );
  const isOfMcp = configs.some(({ mcp }) => mcp.some(({ credential }) => isNamed(credential)));
  const whom = [
    ...(isOfRuns ? ["runs that start from now on"] : []),
    ...(isOfMcp ? ["calls of MCP servers, also in runs under way"] : []),
    ...sources,
  ];
  return whom.length === 0 ? [] : [`credential ${name} ${change}; this affects ${whom.join(", ")}`];
}

type Sources = Readonly<Record<string, WebhookSource>>;

/**
 * Why deliveries of webhook sources will be rejected although each names a credential: it can't be loaded. Checked when
 * the sources change, so that the owner knows before the first delivery.
 */
export function missingSecrets(
  home: string,
  project$: Observable<{ readonly webhooks: Sources }>,
): Observable<string> {
  return project$.pipe(
    map(({ webhooks }) => webhooks),
    distinctUntilChanged(isSame),
    switchMap((sources) => from(Promise.all(Object.values(sources).map((one) => look(home, one))))),
    mergeMap((reasons) => reasons.filter((text) => text !== null)),
  );
}

function isSame(a: Sources, b: Sources): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

async function look(home: string, source: WebhookSource): Promise<string | null> {
  const { name, type, credential } = source;
  if (credential === null || source.allowUnsigned) return null;
  try {
    await loadCredential(home, `${webhookSecretType(type)}:${credential}`);
    return null;
  } catch (error) {
    return `deliveries to webhook source ${name} are refused: ${reasonOf(error)}`;
  }
}
