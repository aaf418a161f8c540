import { text, type Payload } from "../json.ts";
import type { FilterRules, Provider, Request, Verdict } from "../provider.ts";
import {
  header,
  hmac,
  verifyHex,
  isStandardSecret,
  standardHeader,
  standardHeaders,
  verifyStandard,
} from "../signature.ts";
import { commonFilters } from "../provider.ts";

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
    note: "Mintlify's own documentation describes no outbound webhook. Third-party senders use this form.",
  },
  secretHeaders: [...signatureHeaders, ...standardHeaders.secret],
  keptHeaders: standardHeaders.kept,
  filters,
  verify,
  sign: ({ secret, body }) => ({ [signatureHeaders[0]]: hmac(secret, body).toString("hex") }),
  deliveryId: (_payload, headers) => standardHeader(headers, "id"),
  describe: (payload) => {
    const project = text(payload, "project", "organization");
    const sender = text(payload, "user.email", "user.name");
    return {
      event: text(payload, "event") ?? "build",
      action: action(payload),
      repo: project,
      title: text(payload, "title"),
      body: text(payload, "message", "error", "description"),
      url: text(payload, "url", "build_url", "logs_url"),
      author: sender,
      sender,
      branch: text(payload, "branch", "git.branch"),
      conclusion: conclusion(payload),
      attributes: { projects: project },
    };
  },
};

function verify(request: Request, secret: string, now: number): Verdict {
  const [first, second] = signatureHeaders;
  const given = header(request.headers, first) ?? header(request.headers, second);
  const standard = standardHeader(request.headers, "signature") !== null;
  if (given === null && standard && isStandardSecret(secret)) {
    return verifyStandard(request, secret, now);
  }
  return verifyHex(given, "", secret, request.body);
}

const action = (payload: Payload): string | null => text(payload, "action", "status");

/** How a build ended; a build that has only begun has no conclusion. */
function conclusion(payload: Payload): string | null {
  const ended = action(payload);
  return ended !== null && /^(fail|succe|error|cancel)/.test(ended) ? ended : null;
}
