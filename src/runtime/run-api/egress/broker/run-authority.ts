import { generateKeyPairSync, createECDH, createPrivateKey } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { SecureContext } from "node:tls";
import type { ECDH, KeyObject } from "node:crypto";
import { derivedBytes } from "../../../../foundation/contracts/derived-bytes.ts";

export interface AuthorityOptions {
  /** The project's own key. */
  readonly projectKey: string;
  readonly instanceId: string;
  /** Epoch ms. */
  readonly now: () => number;
}

/** The certificate authority of one run, which no other run trusts. */
export interface RunAuthority {
  /** Its certificate as PEM, for the run to trust: it is good for these hosts and no other. */
  certificate(hosts: readonly string[]): string;
  /** The certificate of a host and its key, made once. */
  contextFor(host: string): SecureContext;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** A container's clock may be a little behind. */
const beforeMs = 5 * minuteMs;
/** As long as any run waits. */
const authorityMs = 400 * dayMs;
const leafMs = 30 * dayMs;

/**
 * The authority of a run. Its key is derived, so that a later scheduler has the same and the run goes on trusting it. What
 * writes certificates is loaded with the first authority.
 */
export async function createRunAuthority(options: AuthorityOptions): Promise<RunAuthority> {
  const { authorityExtensions, certificate, keyId, serverExtensions } =
    await import("./certificate.ts");
  const { projectKey, instanceId, now } = options;
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
    certificate: (hosts) =>
      certificate({
        issuer,
        subject: issuer,
        from: now() - beforeMs,
        until: now() + authorityMs,
        extensions: authorityExtensions(hosts),
      }),
    contextFor: (host) => {
      const stored = contexts.get(host);
      if (stored !== undefined && now() < stored.until - dayMs) return stored.context;
      const made = make(host);
      contexts.set(host, made);
      return made.context;
    },
  };
}

/** The private key of a run's certificate authority: of P-256, the same in a later scheduler. */
function authorityKey(projectKey: string, instanceId: string): KeyObject {
  const pair = createECDH("prime256v1");
  for (let attempt = 0; ; attempt += 1) {
    const scalar = derivedBytes(projectKey, "authority of a run", instanceId, attempt);
    if (isTaken(pair, scalar)) return asKeyObject(pair, scalar);
  }
}

/** A few of the 2^256 numbers are no private key of the curve. */
function isTaken(pair: ECDH, scalar: Buffer): boolean {
  try {
    pair.setPrivateKey(scalar);
    return true;
  } catch {
    return false;
  }
}

function asKeyObject(pair: ECDH, scalar: Buffer): KeyObject {
  const point = pair.getPublicKey();
  const key = {
    kty: "EC",
    crv: "P-256",
    d: scalar.toString("base64url"),
    x: point.subarray(1, 33).toString("base64url"),
    y: point.subarray(33).toString("base64url"),
  };
  return createPrivateKey({ key, format: "jwk" });
}
