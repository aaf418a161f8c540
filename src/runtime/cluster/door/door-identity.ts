import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { Problem } from "../../../foundation/errors.ts";

/** The door's private key, and the only certificate that runs on other machines trust. Both PEM. */
export interface DoorIdentity {
  readonly key: string;
  readonly certificate: string;
}

const dayMs = 24 * 60 * 60_000;
/** The clock of another machine may be wrong by any time, and its run must still reach the scheduler. */
const beforeMs = 10 * 365 * dayMs;
const validMs = 100 * 365 * dayMs;
const pemBlock = /-----BEGIN ([A-Z ]+)-----[\s\S]+?-----END \1-----\n?/g;

/**
 * Reads key and certificate from this file (0600), which is created once: live runs identify the scheduler by it.
 * Rejects with a Problem if it can't be read or is invalid.
 */
export async function doorIdentity(path: string): Promise<DoorIdentity> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw broken(path, error);
  });
  return text === null ? makeIdentity(path) : identityIn(path, text);
}

function identityIn(path: string, text: string): DoorIdentity {
  try {
    const [key = "", certificate = ""] = text.match(pemBlock) ?? [];
    const isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
    if (!isPair) throw new Error("the certificate belongs to another key");
    return { key, certificate };
  } catch (error) {
    throw broken(path, error);
  }
}

function broken(path: string, cause: unknown): Problem {
  return new Problem(
    "door_identity",
    `${path} does not contain the key and the certificate of the door`,
    {
      hint: "Restore it from a backup, or remove it: the next start creates another one, and runs on other machines are lost.",
      cause,
    },
  );
}

async function makeIdentity(path: string): Promise<DoorIdentity> {
  const { certificate, serverExtensions } =
    await import("../../run-api/egress/broker/certificate.ts");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const own = { name: "Scheduler", key: privateKey };
  const made = certificate({
    issuer: own,
    subject: own,
    from: Date.now() - beforeMs,
    until: Date.now() + validMs,
    extensions: serverExtensions("scheduler.invalid"),
  });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  // Key and certificate are one file, written by rename, so that a crash can't leave only one of them.
  await writeFile(`${path}.new`, key + made, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return { key, certificate: made };
}
