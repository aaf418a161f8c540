import { createECDH, createPrivateKey } from "node:crypto";
import type { ECDH, KeyObject } from "node:crypto";
import { derivedBytes } from "../../../../foundation/contracts/derived-bytes.ts";

/** The private key of a run's certificate authority: of P-256, the same in a later scheduler. */
export function authorityKey(projectKey: string, instanceId: string): KeyObject {
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
