import { createHmac } from "node:crypto";
import { isoTime } from "../../../../streams/iso-times.ts";
import { addressIn, requiredField, unusable, type Fields } from "../target.ts";
import { httpTarget } from "../http-target.ts";
import type { Question } from "../../../foundation/contracts/questions.ts";

const prefix = "whsec_";

/**
 * Any receiver, signed by Standard Webhooks 1.0.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const webhook = httpTarget({
  address: (fields) => addressIn(fields, "url"),
  check: (fields) => {
    keyOf(fields);
  },
  body: ({ alert, title, severity, lines, project, url, question }) => ({
    type: `alert.${alert.phase}`,
    timestamp: isoTime(alert.at),
    data: { ...alert, title, severity, lines, project, url, ...(question && asked(question)) },
  }),
  headers: (body, { id, now }, fields) => {
    const timestamp = String(Math.floor(now / 1000));
    const signature = createHmac("sha256", keyOf(fields)).update(`${id}.${timestamp}.${body}`);
    return {
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature.digest("base64")}`,
    };
  },
});

/** The question, for a program that answers it: a POST of `{"answer": …}` to the `url`. */
function asked({ id, kind, gates, prompt, form, fallback, until }: Question) {
  return { question: { id, kind, gates, prompt, form, fallback, until: isoTime(until) } };
}

function keyOf(fields: Fields): Buffer {
  const secret = requiredField(fields, "secret").trim();
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : "";
  const key = Buffer.from(encoded, "base64");
  if (/^[A-Za-z0-9+/]+=*$/.test(encoded) && key.length >= 24 && key.length <= 64) return key;
  throw unusable("secret", `must be "${prefix}" followed by 24–64 bytes in base64`);
}
