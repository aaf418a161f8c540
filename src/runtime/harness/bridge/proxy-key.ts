import type { IncomingMessage } from "node:http";
import { isSameSecret } from "../../../foundation/contracts/same-secret.ts";

/** Asks a program for the key that is in the address of its proxy. */
export const proxyChallenge = { "proxy-authenticate": 'Basic realm="al"' } as const;
export const proxyKeyMissing =
  "this is not the key of this run's proxy: it is in the address that HTTPS_PROXY holds";

/** Whether a program came with the key as the password of its proxy. */
export function carriesProxyKey({ headers }: IncomingMessage, key: string): boolean {
  const [, login] = /^Basic ([\w+/=]{1,500})$/i.exec(headers["proxy-authorization"] ?? "") ?? [];
  const [, password] =
    /^[^:]*:(.*)$/s.exec(Buffer.from(login ?? "", "base64").toString("utf8")) ?? [];
  return password !== undefined && isSameSecret(password, key);
}
