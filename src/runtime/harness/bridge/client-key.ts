import type { IncomingMessage } from "node:http";
import { oauthMark } from "../../../foundation/contracts/model-address.ts";
import { isSameSecret } from "../../../foundation/contracts/same-secret.ts";

/** Whether the request has the key where any of the providers' clients puts it. */
export function carriesKey({ headers, url = "" }: IncomingMessage, key: string): boolean {
  const [, bearer] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
  const query = new URL(url, "http://bridge").searchParams.get("key");
  return [bearer, headers["x-api-key"], headers["x-goog-api-key"], query].some(
    (given) => typeof given === "string" && isSameSecret(given.replace(oauthMark, ""), key),
  );
}
