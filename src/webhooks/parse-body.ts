import { parseObject } from "./json.ts";
import type { Parsed, Request } from "./provider.ts";

/** Reads a body that is one JSON object, whatever the content type says. */
export function parseJsonBody({ body }: Request): Parsed {
  const payload = parseObject(body);
  return payload === null
    ? { ok: false, why: "the body is not a JSON object in UTF-8" }
    : { ok: true, payload };
}
