import { isSameSecret } from "../../../foundation/contracts/request-limit.ts";
import { valueAt } from "../../../../streams/where.ts";
import { integer, text, texts, type Payload } from "../json.ts";
import type {
  EventDescription,
  FilterRules,
  OptIn,
  Provider,
  Request,
  ToSign,
  Verdict,
} from "../provider.ts";
import {
  header,
  refused,
  valid,
  isStandardSecret,
  signStandard,
  standardHeader,
  standardHeaders,
  verifyStandard,
} from "../signature.ts";
import { commonFilters } from "../provider.ts";

const tokenHeader = "x-gitlab-token";
const eventHeader = "x-gitlab-event";
const deliveryHeader = "idempotency-key";

const filters: FilterRules = {
  repos: { kind: "strings", meaning: "Specific projects, as `group/name`", ignoreCase: true },
  events: {
    kind: "strings",
    meaning: "Event types, as `object_kind`: push, issue, merge_request, note, pipeline and so on",
  },
  actions: {
    kind: "strings",
    meaning:
      "Event actions: open, update, merge, close and so on; `deleted` for a push that deletes its branch or tag",
  },
  labels: {
    kind: "strings",
    meaning:
      "Only when the issue or merge request has any of these labels; for a comment, its issue or merge request",
  },
  assignee: {
    kind: "string",
    meaning:
      "Only when assigned to this user, including comments on merge requests; comments on issues have no assignee",
    ignoreCase: true,
  },
  branches: {
    kind: "strings",
    meaning:
      "Only for these branches: the pushed branch, a merge request's target, or the branch of a pipeline or job",
  },
  conclusions: {
    kind: "strings",
    meaning: "Only for pipelines with these results: success, failed",
  },
  ...commonFilters,
};

/**
 * GitLab: `X-Gitlab-Token` holds the secret token itself, which proves the sender but not the body; a signing token
 * (`whsec_…`) gives Standard Webhooks headers, which prove both.
 * https://docs.gitlab.com/user/project/integrations/webhooks/
 */
export const gitlab: Provider = {
  type: "gitlab",
  about: {
    proof:
      "`X-Gitlab-Token` in plain text (proves the sender, not the body), or Standard Webhooks with a signing token",
    note: 'A push that deletes its branch or tag starts only agents that ask for it, with `actions = ["deleted"]`.',
  },
  secretHeaders: [tokenHeader, ...standardHeaders.secret],
  keptHeaders: [eventHeader, deliveryHeader, ...standardHeaders.kept],
  filters,
  verify,
  sign,
  deliveryId: (_payload, headers) =>
    header(headers, deliveryHeader) ?? standardHeader(headers, "id"),
  describe,
};

function verify(request: Request, secret: string, now: number): Verdict {
  const signature = standardHeader(request.headers, "signature");
  // A signing token must never pass as a plain token, which proves nothing about the body.
  if (isStandardSecret(secret)) return verifyStandard(request, secret, now);
  const token = header(request.headers, tokenHeader);
  if (token !== null) return isSameSecret(token, secret) ? valid : refused("token does not match");
  return refused(signature === null ? "no token" : "signed, but the secret is not a signing token");
}

function sign(request: ToSign): Record<string, string> {
  const { secret, id, event } = request;
  return {
    ...(isStandardSecret(secret) ? signStandard(request) : { [tokenHeader]: secret }),
    [deliveryHeader]: id,
    ...(event === null ? {} : { [eventHeader]: event }),
  };
}

/** The path of an event's subject; a comment and an award hold the issue or merge request that they are on. */
const subjects = ["", "object_attributes.", "issue.", "merge_request."] as const;

/**
 * Names that GitLab gives to access tokens of projects and groups and to service accounts. A service account may have
 * another name, which `ignoreSenders` can list.
 */
const botName = /^((project|group)_\d+_bot|service_account_)/;

/** A deleted branch or tag has no commit that an agent could work on. */
const deletion: OptIn = { filter: "actions", value: "deleted", path: "after" };

function describe(payload: Payload): EventDescription {
  const sender = text(payload, "user.username", "user_username");
  const isDeletion = /^0{40,64}$/.test(text(payload, "after") ?? "");
  return {
    event: kind(payload),
    action: isDeletion ? deletion.value : text(payload, "object_attributes.action", "action"),
    ...(isDeletion && { optIn: deletion }),
    repo: text(payload, "project.path_with_namespace"),
    number: integer(payload, "object_attributes.iid", "issue.iid", "merge_request.iid"),
    title: text(payload, "object_attributes.title", "issue.title", "merge_request.title"),
    body: text(payload, "object_attributes.note", "object_attributes.description"),
    url: text(payload, "object_attributes.url", "project.web_url"),
    author: sender,
    labels: texts(payload, ...subjects.map((subject) => `${subject}labels[].title`)),
    sender,
    branch: branch(payload),
    conclusion: kind(payload) === "pipeline" ? text(payload, "object_attributes.status") : null,
    headSha: text(payload, ...headCommits),
    attributes: {
      assignee: texts(
        payload,
        ...subjects.map((subject) => `${subject}assignees[].username`),
        ...subjects.map((subject) => `${subject}assignee.username`),
      ),
      senderIsBot: botName.test(sender ?? ""),
    },
  };
}

const headCommits = [
  "object_attributes.last_commit.id",
  "merge_request.last_commit.id",
  "commit.id",
  "object_attributes.sha",
  "sha",
  "checkout_sha",
];

const kind = (payload: Payload): string => text(payload, "object_kind", "event_name") ?? "unknown";

const bareRefs = new Map([
  ["pipeline", { ref: "object_attributes.ref", tag: "object_attributes.tag" }],
  ["build", { ref: "ref", tag: "tag" }],
]);

function branch(payload: Payload): string | null {
  const ref = text(payload, "ref");
  if (ref?.startsWith("refs/heads/")) return ref.slice("refs/heads/".length);
  // The `ref` of a pipeline and of a job is a bare name, a tag's too.
  const bare = bareRefs.get(kind(payload));
  if (bare === undefined) {
    return text(payload, "object_attributes.target_branch", "merge_request.target_branch");
  }
  return valueAt(payload, bare.tag) === true ? null : text(payload, bare.ref);
}
