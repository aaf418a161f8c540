import { webhookEvent } from "../event.ts";
import { text } from "../json.ts";
import type { Payload } from "../json.ts";
import { parseJsonBody } from "../parse-body.ts";
import type { FilterRules, Provider, Request, Verdict } from "../provider.ts";
import { header, hmac, verifyHex } from "../signature.ts";
import { isStandardSecret, standardHeaders, verifyStandard } from "../standard-signature.ts";
import { commonFilters } from "./common-filters.ts";

const signatureHeaders = ["x-mintlify-signature", "mintlify-signature"] as const;

const filters: FilterRules = {
  projects: { kind: "strings", meaning: "Specific projects" },
  events: { kind: "strings", meaning: "Event types: build and so on" },
  actions: { kind: "strings", meaning: "Actions: failed, succeeded and so on" },
  branches: { kind: "strings", meaning: "Only for these branches" },
  ...commonFilters,
};

/**
 * Mintlify. Its documentation (https://mintlify.com/docs) describes no outbound webhook: the fields and the header
 * (bare hex HMAC-SHA256 of the raw body) are those that senders for it use. A sender that signs by Standard Webhooks
 * instead is accepted too. Only that form has a delivery id.
 */
export const mintlify: Provider = {
  type: "mintlify",
  about: {
    proof: "`X-Mintlify-Signature`: HMAC-SHA256 of the raw body, or Standard Webhooks",
    note: "Mintlify's own documentation describes no outbound webhook; this is what senders for it use.",
  },
  secretHeaders: [...signatureHeaders, standardHeaders.signature],
  keptHeaders: [standardHeaders.id, standardHeaders.timestamp],
  filters,
  verify,
  sign: ({ secret, body }) => ({ [signatureHeaders[0]]: hmac(secret, body).toString("hex") }),
  parse: parseJsonBody,
  deliveryId: (_payload, headers) => header(headers, standardHeaders.id),
  normalize: (payload, _headers, base) =>
    webhookEvent(base, {
      event: event(payload),
      action: action(payload),
      repo: project(payload),
      title: text(payload, "title"),
      body: text(payload, "message", "error", "description"),
      url: text(payload, "url", "build_url", "logs_url"),
      author: sender(payload),
      sender: sender(payload),
      branch: branch(payload),
      conclusion: conclusion(payload),
    }),
  facts: (payload) => ({
    projects: project(payload),
    events: event(payload),
    actions: action(payload),
    branches: branch(payload),
    sender: sender(payload),
    senderIsBot: null,
  }),
};

function verify(request: Request, secret: string, now: number): Verdict {
  const [first, second] = signatureHeaders;
  const given = header(request.headers, first) ?? header(request.headers, second);
  const standard = header(request.headers, standardHeaders.signature) !== null;
  if (given === null && standard && isStandardSecret(secret)) {
    return verifyStandard(request, secret, now);
  }
  return verifyHex(given, "", secret, request.body);
}

const event = (payload: Payload): string => text(payload, "event") ?? "build";
const action = (payload: Payload): string | null => text(payload, "action", "status");
const project = (payload: Payload): string | null => text(payload, "project", "organization");
const branch = (payload: Payload): string | null => text(payload, "branch", "git.branch");
const sender = (payload: Payload): string | null => text(payload, "user.email", "user.name");

/** How a build ended; a build that has only begun has no conclusion. */
function conclusion(payload: Payload): string | null {
  const ended = action(payload);
  return ended !== null && /^(fail|succe|error|cancel)/.test(ended) ? ended : null;
}
