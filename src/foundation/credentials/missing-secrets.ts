import { distinctUntilChanged, from, map, mergeMap, switchMap } from "rxjs";
import type { Observable } from "rxjs";
import type { WebhookSource } from "../contracts/webhook-filters.ts";
import { webhookSecretType } from "./credential-types.ts";
import { loadCredential } from "./load-credential.ts";
import { reasonOf } from "../errors.ts";

type Sources = Readonly<Record<string, WebhookSource>>;

/**
 * Why deliveries of webhook sources will be refused although each has a credential: it can't be loaded. Looks when the
 * sources change, so that the owner knows before the first delivery does.
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
