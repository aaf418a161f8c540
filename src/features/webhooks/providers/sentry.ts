import { integer, parseJsonBody, text, texts, type Parsed, type Payload } from "../json.ts";
import type { EventDescription, FilterRules, Headers, Provider, Request } from "../provider.ts";
import { header, hmac, verifyHex } from "../signature.ts";
import { commonFilters } from "../provider.ts";

const signatureHeader = "sentry-hook-signature";
const resourceHeader = "sentry-hook-resource";
const timestampHeader = "sentry-hook-timestamp";
const deliveryHeader = "request-id";

const filters: FilterRules = {
  project: {
    kind: "string",
    meaning:
      "A single project, by its slug, or by its numeric ID in alerts and errors, where Sentry sends it",
  },
  resources: {
    kind: "strings",
    meaning: "Resource types",
    values: ["event_alert", "metric_alert", "issue", "error", "comment"],
  },
  actions: {
    kind: "strings",
    meaning:
      "Actions: triggered (event_alert), critical, warning, resolved (metric_alert), created, resolved, assigned, archived, unresolved (issue), created (error), created, updated, deleted (comment)",
  },
  ...commonFilters,
};

const resourceOf = (headers: Headers): string => header(headers, resourceHeader) ?? "";

/**
 * Sentry's integration platform: hex HMAC-SHA256 of the raw body with the integration's client secret. Its timestamp
 * header is not signed, so it proves nothing and is not checked.
 * https://docs.sentry.io/organization/integrations/integration-platform/webhooks/
 */
export const sentry: Provider = {
  type: "sentry",
  about: {
    proof:
      "`Sentry-Hook-Signature`: HMAC-SHA256 of the raw body with the integration's client secret",
    note: null,
  },
  secretHeaders: [signatureHeader],
  // The OAuth grant of an installation, which its receiver exchanges for a token.
  secretPaths: ["data.installation.code"],
  keptHeaders: [resourceHeader, timestampHeader, deliveryHeader],
  eventHeader: resourceHeader,
  exampleEvent: "issue",
  filters,
  verify: ({ headers, body }, secret) =>
    verifyHex(header(headers, signatureHeader), "", secret, body),
  sign: ({ secret, body, now, id, event }) => ({
    [signatureHeader]: hmac(secret, body).toString("hex"),
    [timestampHeader]: String(Math.floor(now / 1000)),
    [deliveryHeader]: id,
    ...(event === null ? {} : { [resourceHeader]: event }),
  }),
  parse,
  deliveryId: (_payload, headers) => header(headers, deliveryHeader),
  describe: (payload, headers) => describe(payload, resourceOf(headers)),
};

function parse(request: Request): Parsed {
  if (resourceOf(request.headers) !== "") return parseJsonBody(request.body);
  return { ok: false, why: "the Sentry-Hook-Resource header is missing" };
}

/** Each resource has its own shape; a comment is flat beside its project and issue. */
function describe(payload: Payload, resource: string): EventDescription {
  const sender = text(payload, "actor.name");
  return {
    event: resource,
    action: text(payload, "action"),
    repo: slugs(payload)[0] ?? null,
    number: integer(payload, "data.issue.id", "data.issue_id", "data.event.issue_id"),
    title: text(
      payload,
      "data.issue.title",
      "data.event.title",
      "data.error.title",
      "data.description_title",
      "data.metric_alert.title",
    ),
    body: text(
      payload,
      "data.comment",
      "data.description_text",
      "data.event.message",
      "data.error.message",
      "data.issue.culprit",
      "data.event.culprit",
      "data.error.culprit",
      "data.triggered_rule",
    ),
    url: text(
      payload,
      "data.issue.web_url",
      "data.issue.permalink",
      "data.event.web_url",
      "data.error.web_url",
      "data.web_url",
    ),
    author: resource === "comment" ? sender : null,
    sender,
    attributes: { project: projects(payload), resources: resource, senderIsBot: isBot(payload) },
  };
}

/** The project: its slug, its numeric id, or both. */
function projects(payload: Payload): readonly string[] {
  const id = integer(payload, "data.issue.project.id", "data.event.project", "data.error.project");
  return [...slugs(payload), ...(id === null ? [] : [String(id)])];
}

/** Alert events and errors name their project by id, and by slug only in their API address. */
function slugs(payload: Payload): readonly string[] {
  const named = texts(
    payload,
    "data.issue.project.slug",
    "data.project_slug",
    "data.metric_alert.projects[]",
  );
  if (named.length > 0) return named;
  const address = text(payload, "data.event.url", "data.error.url") ?? "";
  const [, slug] = /\/api\/0\/projects\/[^/]+\/([^/]+)\//.exec(address) ?? [];
  return slug === undefined ? [] : [slug];
}

/** Sentry's own actions come from an application too, with the id `sentry`; they aren't an integration's echo. */
function isBot(payload: Payload): boolean {
  return text(payload, "actor.type") === "application" && text(payload, "actor.id") !== "sentry";
}
