import { formFields, isForm, parseJsonBody, parsePayloadField, text } from "../json.ts";
import type { Parsed } from "../json.ts";
import type { FilterRules, Headers, Provider, Request } from "../provider.ts";
import { header, hmac, verifyHex } from "../signature.ts";
import { commonFilters } from "./common-filters.ts";
import { describeGithub } from "./github-fields.ts";

const signatureHeader = "x-hub-signature-256";
const eventHeader = "x-github-event";
const deliveryHeader = "x-github-delivery";

/** Filters of GitHub events. Names of repositories, organisations and users compare without case, as GitHub does. */
const filters: FilterRules = {
  repos: { kind: "strings", meaning: "Specific repositories, as `owner/name`", ignoreCase: true },
  orgs: {
    kind: "strings",
    meaning: "Specific organizations; a repository's owner counts as one",
    ignoreCase: true,
  },
  org: { kind: "string", meaning: "A single organization", attribute: "orgs", ignoreCase: true },
  events: { kind: "strings", meaning: "Event types: issues, pull_request, push and so on" },
  actions: { kind: "strings", meaning: "Event actions: opened, labeled, closed and so on" },
  labels: {
    kind: "strings",
    meaning: "Only when the issue, pull request or discussion has any of these labels",
  },
  assignee: { kind: "string", meaning: "Only when assigned to this user", ignoreCase: true },
  author: {
    kind: "string",
    meaning:
      "Only for this author: who wrote the comment or review; without one, who opened the issue, pull request or discussion, published the release, caused the workflow run or pushed. Other events have none",
    ignoreCase: true,
  },
  branches: {
    kind: "strings",
    meaning:
      "Only for these branches, by their whole names: the one pushed to, made or deleted; a pull request's base, also in reviews of it; the head of a workflow run, job or check, also one of a fork; that of a commit's status, a merge group, a dispatch or a code scanning alert. Tags, issues and comments on issues and pull requests have none",
  },
  conclusions: {
    kind: "strings",
    meaning: "Only for workflow_run events with these conclusions: success, failure and so on",
  },
  ...commonFilters,
};

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
  filters,
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
  describe: (payload, headers) => describeGithub(payload, eventOf(headers)),
};

/** A webhook's content type is its owner's choice: JSON, or a form whose field `payload` is the same JSON. */
function parse(request: Request): Parsed {
  if (eventOf(request.headers) === "")
    return { ok: false, why: "the X-GitHub-Event header is missing" };
  return isForm(header(request.headers, "content-type"))
    ? parsePayloadField(formFields(request.body))
    : parseJsonBody(request.body);
}
