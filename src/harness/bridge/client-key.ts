import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { oauthMark } from "../../contracts/model-address.ts";

/** Whether the request has the key where any of the providers' clients puts it. */
export function carriesKey({ headers, url = "" }: IncomingMessage, key: string): boolean {
  const [, bearer] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
  const query = new URL(url, "http://bridge").searchParams.get("key");
  return [bearer, headers["x-api-key"], headers["x-goog-api-key"], query].some(
    (given) => typeof given === "string" && isSame(given.replace(oauthMark, ""), key),
  );
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
