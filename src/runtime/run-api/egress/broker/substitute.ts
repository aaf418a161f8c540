import type { SecretBinding } from "../../../../foundation/contracts/network-allow.ts";
import { Problem } from "../../../../foundation/errors.ts";
import { sentinelMark } from "../../../../foundation/credentials/broker-credentials.ts";

/** Matches the names of headers that hosts use for authentication. */
const names =
  /\bauth\b|authorization|authentication|token|secret|passw|credential|cookie|session|(api|app|application|access|account|master|private|service|subscription)-?key$/i;

/**
 * Whether hosts treat the header as a secret. They may store other headers and show them to the owner of an account
 * that the request names: a User-Agent in a list of events, an Idempotency-Key in a list of requests.
 */
function isForSecrets(header: string): boolean {
  return names.test(header);
}

/** A request's host, address and headers. */
export interface RequestHead {
  /** Canonical. */
  readonly host: string;
  /** Path and query. */
  readonly url: string;
  /** Names and values alternately, as received. */
  readonly rawHeaders: readonly string[];
}

/** The refusal of a request that would leave with a sentinel. The message names the problem and a fix. */
function holdsSentinel(where: string, host: string, advice: string): Problem {
  const found = `${where} of the request to ${host} contains a sentinel`;
  return new Problem("sentinel", `${found}, a placeholder for a secret${advice}`);
}

/**
 * Replaces sentinels in the headers by the secrets that are bound to the host. Throws a `refusal` for any other sentinel,
 * and for one outside the value of an authentication header.
 */
export function substituted(
  { host, url, rawHeaders }: RequestHead,
  bindings: readonly SecretBinding[],
  refusal = (where: string, text: string): Problem =>
    holdsSentinel(where, host, adviceOn(text, host, bindings)),
): string[] {
  const assertNone = (where: string, text: string): string => {
    if (!hasMark(text)) return text;
    throw refusal(where, text);
  };
  assertNone("the address", url);
  const bound = bindings.filter(({ hosts }) => hosts.includes(host));
  return rawHeaders.map((text, index) => {
    if (index % 2 === 0) return assertNone("the name of a header", text);
    const name = rawHeaders[index - 1] ?? "";
    const where = `the header ${name}`;
    if (!isForSecrets(name)) return assertNone(where, text);
    const value = inBasic(withSecrets(text, bound), (login) =>
      assertNone(where, withSecrets(login, bound)),
    );
    return assertNone(where, value);
  });
}

/** The bindings, with tokens minted where the headers have their sentinels. Rejects with a Problem. */
export async function withMinted(
  { host, rawHeaders }: Omit<RequestHead, "url">,
  bindings: readonly SecretBinding[],
): Promise<readonly SecretBinding[]> {
  const has = (sentinel: string) => (text: string) => {
    let isIn = text.includes(sentinel);
    inBasic(text, (login) => {
      isIn ||= login.includes(sentinel);
      return login;
    });
    return isIn;
  };
  return Promise.all(
    bindings.map(async (binding) => {
      const { mint, hosts, sentinel } = binding;
      const isNeeded = mint && hosts.includes(host) && rawHeaders.some(has(sentinel));
      return isNeeded ? { ...binding, secret: await mint() } : binding;
    }),
  );
}

/** The refusal of a sentinel in a body, where secrets are never inserted. */
export function bodyRefusal(host: string): Problem {
  return holdsSentinel("the body", host, inHeadersOnly);
}

/** Applies a change to the user and password of basic authentication, if that is the header's value. */
function inBasic(value: string, change: (login: string) => string): string {
  const [, scheme, encoded] = /^(basic +)([A-Za-z0-9+/=]+) *$/i.exec(value) ?? [];
  if (scheme === undefined || encoded === undefined) return value;
  const login = Buffer.from(encoded, "base64").toString("latin1");
  const changed = change(login);
  return changed === login
    ? value
    : `${scheme}${Buffer.from(changed, "latin1").toString("base64")}`;
}

/** Secrets are inserted as latin1: each character of a header stands for a byte. */
function withSecrets(text: string, bound: readonly SecretBinding[]): string {
  return bound.reduce(
    (rest, { sentinel, secret }) =>
      secret === null
        ? rest
        : rest.replaceAll(sentinel, () => Buffer.from(secret).toString("latin1")),
    text,
  );
}

/** Ignores case, as hosts may do. */
function hasMark(text: string): boolean {
  return text.toLowerCase().includes(mark);
}

const mark = sentinelMark.toLowerCase();
const inHeadersOnly =
  ". The secret is put into headers for authentication only: send it in one, such as Authorization.";

function adviceOn(text: string, host: string, bindings: readonly SecretBinding[]): string {
  const binding = bindings.find(({ sentinel }) => text.includes(sentinel));
  if (binding === undefined) return " that this run does not have. Leave it out.";
  const { hosts } = binding;
  if (hosts.includes(host)) return inHeadersOnly;
  return ` for ${hosts.join(", ")} and no other host. Hosts are added in [network.credentials] of the project's config.toml.`;
}
