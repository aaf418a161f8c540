import { jsonOf } from "../../foundation/contracts/json-size.ts";
import type { TargetAnswer } from "./rules/alert.ts";
import type { OutgoingAnswer } from "../../foundation/contracts/outgoing-request.ts";
import { withoutAddress } from "../../foundation/contracts/outgoing-request.ts";
import { oneLine, type HttpForm, type Meaning, type TargetType } from "./target.ts";

/** A type of target that takes one POST of JSON. */
export function httpTarget(form: HttpForm): TargetType {
  return {
    check: (fields, target) => {
      form.address(fields);
      form.check?.(fields, target);
    },
    send: async ({ message, fields, sendRequest }) => {
      const url = form.address(fields, message);
      const body = JSON.stringify(form.body(message, fields));
      const headers = {
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
        "user-agent": "almanac",
        ...form.headers?.(body, message, fields),
      };
      const answer = await sendRequest({ method: "POST", url, headers, body });
      const result = meant(form, answer, message.now);
      if (result.type === "accepted") {
        const isOpen = message.question?.state === "open";
        return isOpen ? { ...result, receipt: form.receipt?.(jsonOf(answer.text)) } : result;
      }
      return { ...result, error: withoutAddress(result.error, url) };
    },
  };
}

function meant(form: HttpForm, answer: OutgoingAnswer, now: number): TargetAnswer {
  const meaning = form.meaning?.({ ...answer, json: jsonOf(answer.text) }) ?? null;
  const { status, headers } = answer;
  if (meaning === null && status >= 200 && status < 300) return { type: "accepted" };
  const { type, reason, retryAfter } = meaning ?? unexplained;
  if (type === "accepted") return { type };
  const error = errorOf(answer, reason ?? answer.text);
  if (type === "gone" || status === 410) return { type: "gone", error };
  const afterMs =
    retryAfter === undefined
      ? retryAfterMs(headers["retry-after"], now)
      : Math.ceil(retryAfter * 1000);
  return { type: "failed", error, afterMs };
}

const unexplained: Meaning = { type: "failed" };

function errorOf({ status, headers }: OutgoingAnswer, reason: string): string {
  if (status >= 300 && status < 400) {
    const host = URL.parse(headers.location ?? "")?.host;
    return `it redirects${host === undefined ? "" : ` to ${host}`}, which is not followed (${status})`;
  }
  const text = oneLine(reason);
  return text === "" ? `it answered ${status}` : `it answered ${status}: ${text}`;
}

/**
 * `Retry-After` in ms from `now` on: seconds, or a date (RFC 9110, 10.2.3); null if it is missing or can't be read.
 */
export function retryAfterMs(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,12}(\.\d+)?$/.test(value.trim())) return Math.ceil(Number(value) * 1000);
  // Date.parse accepts texts that aren't dates of HTTP, such as "-1".
  const date = /^[A-Z][a-z]+,? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
