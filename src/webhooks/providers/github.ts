import { webhookEvent } from "../event.ts";
import { parseObject, text } from "../json.ts";
import { parseJsonBody } from "../parse-body.ts";
import type { Headers, Parsed, Provider, Request } from "../provider.ts";
import { header, hmac, verifyHex } from "../signature.ts";
import { githubFacts, githubFields } from "./github-fields.ts";
import { githubFilters } from "./github-filters.ts";

const signatureHeader = "x-hub-signature-256";
const eventHeader = "x-github-event";
const deliveryHeader = "x-github-delivery";

const eventOf = (headers: Headers): string => header(headers, eventHeader) ?? "";

/**
 * GitHub. The signature covers the raw body only: there is no signed time, and event name and delivery id are not
 * signed. https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
export const github: Provider = {
  type: "github",
  about: {
    proof: "`X-Hub-Signature-256`: HMAC-SHA256 of the raw body",
    note: 'Branches of pull requests are their base branches, as in GitHub\'s own filters; a tag is not a branch. Comments by who opened their issue: `where = { "issue.user.login" = "octocat" }`.',
  },
  secretHeaders: [signatureHeader, "x-hub-signature"],
  keptHeaders: [eventHeader, deliveryHeader],
  eventHeader,
  filters: githubFilters,
  verify: ({ headers, body }, secret) =>
    verifyHex(header(headers, signatureHeader), "sha256=", secret, body),
  sign: ({ secret, body, id, event }) => ({
    [signatureHeader]: `sha256=${hmac(secret, body).toString("hex")}`,
    [deliveryHeader]: id,
    ...(event === null ? {} : { [eventHeader]: event }),
  }),
  parse,
  deliveryId: (_payload, headers) => header(headers, deliveryHeader),
  answerPing: (payload, headers) =>
    eventOf(headers) === "ping" ? { pong: true, zen: text(payload, "zen") } : null,
  normalize: (payload, headers, base) =>
    webhookEvent(base, githubFields(payload, eventOf(headers))),
  facts: (payload, headers) => githubFacts(payload, eventOf(headers)),
};

/** A webhook's content type is its owner's choice: JSON, or a form whose field `payload` is the same JSON. */
function parse(request: Request): Parsed {
  if (eventOf(request.headers) === "")
    return { ok: false, why: "the X-GitHub-Event header is missing" };
  const contentType = header(request.headers, "content-type") ?? "";
  if (!contentType.toLowerCase().startsWith("application/x-www-form-urlencoded")) {
    return parseJsonBody(request);
  }
  const field = new URLSearchParams(new TextDecoder().decode(request.body)).get("payload");
  const payload = field === null ? null : parseObject(field);
  return payload === null
    ? { ok: false, why: "the form has no field `payload` that is a JSON object" }
    : { ok: true, payload };
}
