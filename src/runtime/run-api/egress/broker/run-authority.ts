import { generateKeyPairSync, createECDH, createPrivateKey, type KeyObject } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import { derivedBytes } from "../../../../foundation/credentials/broker-credentials.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** A container's clock may be a little behind. */
const beforeMs = 5 * minuteMs;
/** How long an authority is valid, in ms; at least as long as any run waits. */
const authorityMs = 400 * dayMs;
const leafMs = 30 * dayMs;

/**
 * The authority of a run. Its key is derived, so that a later scheduler has the same key and the run still trusts it.
 * The certificate library is loaded with the first authority.
 */
export async function createRunAuthority(
  projectKey: string,
  instanceId: string,
  now: () => number = Date.now,
) {
  const { authorityExtensions, certificate, keyId, serverExtensions } =
    await import("./certificate.ts");
  const key = authorityKey(projectKey, instanceId);
  const issuer = { key, name: `Run ${Buffer.from(keyId(key)).toString("hex").slice(0, 16)}` };
  const contexts = new Map<string, { readonly context: SecureContext; readonly until: number }>();

  const make = (host: string) => {
    const leaf = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const until = now() + leafMs;
    const cert = certificate({
      issuer,
      // The name is in the extension; a common name has at most 64 characters.
      subject: { key: leaf, name: "Host" },
      from: now() - beforeMs,
      until,
      extensions: serverExtensions(host),
    });
    const pem = leaf.export({ type: "pkcs8", format: "pem" });
    return { context: createSecureContext({ cert, key: pem, minVersion: "TLSv1.2" }), until };
  };
  return {
    /** The authority's certificate as PEM, for the run to trust; constrained to these hosts. */
    certificate: (hosts: readonly string[]): string =>
      certificate({
        issuer,
        subject: issuer,
        from: now() - beforeMs,
        until: now() + authorityMs,
        extensions: authorityExtensions(hosts),
      }),
    /** A host's certificate and key, cached. */
    contextFor: (host: string): SecureContext => {
      const stored = contexts.get(host);
      if (stored !== undefined && now() < stored.until - dayMs) return stored.context;
      const made = make(host);
      contexts.set(host, made);
      return made.context;
    },
  };
}

/** The certificate authority of one run, which no other run trusts. */
export type RunAuthority = Awaited<ReturnType<typeof createRunAuthority>>;

/** The P-256 private key of a run's certificate authority, the same in a later scheduler. */
function authorityKey(projectKey: string, instanceId: string): KeyObject {
  const pair = createECDH("prime256v1");
  for (let attempt = 0; ; attempt += 1) {
    const scalar = derivedBytes(projectKey, "authority of a run", instanceId, attempt);
    try {
      pair.setPrivateKey(scalar);
    } catch {
      // A few 256-bit numbers aren't private keys of the curve.
      continue;
    }
    const point = pair.getPublicKey();
    const [d = "", x = "", y = ""] = [scalar, point.subarray(1, 33), point.subarray(33)].map(
      (bytes) => bytes.toString("base64url"),
    );
    return createPrivateKey({ key: { kty: "EC", crv: "P-256", d, x, y }, format: "jwk" });
  }
}

/** How many authorities of the latest runs are cached; others are created again when needed. */
const maxStored = 64;

/** The authorities of runs, created on first use. */
export function createAuthorities(
  projectKey: () => string,
): (instanceId: string) => Promise<RunAuthority> {
  const recent = new Map<string, Promise<RunAuthority>>();
  return (instanceId) => {
    const authority = recent.get(instanceId) ?? createRunAuthority(projectKey(), instanceId);
    recent.delete(instanceId);
    recent.set(instanceId, authority);
    const [oldest] = recent.keys();
    if (recent.size > maxStored && oldest !== undefined) recent.delete(oldest);
    return authority;
  };
}
