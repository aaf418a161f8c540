import { JsonSize } from "../../foundation/contracts/json-size.ts";
import type { Request } from "./provider.ts";
import { header } from "./signature.ts";

/** Parsing so many blocks the process for some 100 ms; those of 25 MiB would block it for seconds. */
const maxValues = 100_000;
/** A form's JSON is percent-encoded, so that its values can't be counted as they come. */
const maxFormBytes = 1024 * 1024;
const maxFields = 1_000;

/** Why the body of an unsigned source is not parsed, in words for the sender; null when it may be. */
export function whyTooMuch({ headers, body }: Request): string | null {
  if (new JsonSize().push(body, maxValues).values > maxValues) {
    return `without a signature, a body may hold ${maxValues} JSON values`;
  }
  const isForm = /^application\/x-www-form-urlencoded/i.test(header(headers, "content-type") ?? "");
  if (!isForm) return null;
  const text = Buffer.from(body.subarray(0, maxFormBytes)).toString("latin1");
  const fields = text.split("&", maxFields + 1).length;
  return body.length > maxFormBytes || fields > maxFields
    ? `without a signature, a form may hold ${maxFormBytes} bytes and ${maxFields} fields`
    : null;
}
