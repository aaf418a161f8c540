import type { WebhookSource } from "../../foundation/config/project-config.ts";
import { forSource, type Headers, type Provider, type Delivery } from "./provider.ts";
import { header } from "./signature.ts";

/** Why a delivery is rejected. `why` is for the operator's log, never for the sender. */
export interface Refusal {
  readonly ok: false;
  readonly status: 401 | 403 | 404 | 503;
  /** The source of the address; null for several or none. */
  readonly source: string | null;
  readonly why: string;
}
export type Authenticated = { readonly ok: true; readonly source: WebhookSource } | Refusal;

/** All secrets that a source accepts at the moment; more than one while a secret is rotated. */
export type SecretsOf = (source: WebhookSource) => readonly string[] | Promise<readonly string[]>;

/** The secrets and the time for checking a signature. */
interface Checks {
  readonly secretsOf: SecretsOf;
  /** Epoch ms. */
  readonly now: number;
}

/**
 * Finds the source that a delivery is from. At a type's path every signed source is tried and the signature picks
 * one; an unsigned source answers there only when it is the type's only source.
 */
export async function authenticate(
  provider: Provider,
  delivery: Delivery,
  { sources, ...checks }: Checks & { readonly sources: readonly WebhookSource[] },
): Promise<Authenticated> {
  const ofType = sources.filter(({ type }) => type === provider.type);
  const named = delivery.source;
  const addressed = named === null ? ofType : ofType.filter(({ name }) => name === named);
  if (addressed.length === 0) {
    const why = "no source of this type answers at this path";
    return { ok: false, status: 404, source: null, why };
  }
  const tried = addressed.length === 1 ? addressed : addressed.filter(isSigned);
  const refusals: Refusal[] = [];
  for (const source of tried) {
    const result = await tryOne(provider, delivery, { source, ...checks });
    if (result.ok) return result;
    refusals.push(result);
  }
  return worst(refusals, named === null && tried.length === 0);
}

const isSigned = ({ credential }: WebhookSource): boolean => credential !== null;

async function tryOne(
  provider: Provider,
  delivery: Delivery,
  { source, secretsOf, now }: Checks & { readonly source: WebhookSource },
): Promise<Authenticated> {
  const refuse = (why: string, status: 401 | 403 | 503 = 401): Refusal => ({
    ok: false,
    status,
    source: source.name,
    why: `source ${source.name}: ${why}`,
  });
  if (source.credential === null) {
    if (source.allowUnsigned) {
      if (!isFromPage(delivery.headers)) return { ok: true, source };
      return refuse("it accepts unsigned deliveries, but none from web pages", 403);
    }
    return refuse("it has no credential; set one, or allowUnsigned = true, in config.toml");
  }
  let secrets: readonly string[];
  try {
    secrets = await secretsOf(source);
  } catch {
    // The error of reading may quote the secret.
    return refuse(`the secret of credential ${source.credential} cannot be read`, 503);
  }
  // An empty secret proves nothing.
  const usable = secrets.filter((secret) => secret.trim() !== "");
  let why = `no secret is stored for credential ${source.credential}`;
  for (const secret of usable) {
    const verdict = forSource(provider, source).verify(delivery, secret, now);
    if (verdict.ok) return { ok: true, source };
    why = verdict.why;
  }
  return refuse(why);
}

/**
 * True when a page of any site sent this from a browser: pages cannot remove these headers,
 * and services that send webhooks do not set them.
 */
function isFromPage(headers: Headers): boolean {
  const site = header(headers, "sec-fetch-site") ?? "none";
  return headers.origin !== undefined || (site !== "none" && site !== "same-origin");
}

/** A secret that could not be read may have been the right one: the sender is to try again then. */
function worst(refusals: readonly Refusal[], onlyUnsigned: boolean): Refusal {
  const statuses = refusals.map(({ status }) => status);
  const status = ([503, 403] as const).find((one) => statuses.includes(one)) ?? 401;
  const why = onlyUnsigned
    ? "several sources of this type are unsigned; each answers at its own path only"
    : refusals
        .slice(0, 5)
        .map((refusal) => refusal.why)
        .join("; ");
  const [only, another] = refusals;
  const source = another === undefined ? (only?.source ?? null) : null;
  return { ok: false, status, source, why };
}
