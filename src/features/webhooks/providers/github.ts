import {
  formFields,
  isForm,
  parseJsonBody,
  parsePayloadField,
  text,
  integer,
  texts,
} from "../json.ts";
import type { Parsed, Payload } from "../json.ts";
import type {
  EventDescription,
  FilterRules,
  Headers,
  OptIn,
  Provider,
  Request,
} from "../provider.ts";
import { header, hmac, verifyHex } from "../signature.ts";
import { commonFilters } from "../provider.ts";
import { valueAt } from "../../../../streams/where.ts";

const signatureHeader = "x-hub-signature-256";
const eventHeader = "x-github-event";
const deliveryHeader = "x-github-delivery";

/** Filters of GitHub events. Names of repositories, organisations and users compare without case, as GitHub does. */
const filters: FilterRules = {
  repos: { kind: "strings", meaning: "Specific repositories, as `owner/name`", ignoreCase: true },
  orgs: {
    kind: "strings",
    meaning: "Specific organizations, or a repository's owner",
    ignoreCase: true,
  },
  org: { kind: "string", meaning: "A single organization", attribute: "orgs", ignoreCase: true },
  events: { kind: "strings", meaning: "Event types: issues, pull_request, push and so on" },
  actions: {
    kind: "strings",
    meaning:
      "Event actions: opened, labeled, closed and so on; `deleted` for a push that deletes its branch or tag",
  },
  labels: {
    kind: "strings",
    meaning: "Only when the issue, pull request or discussion has any of these labels",
  },
  assignee: { kind: "string", meaning: "Only when assigned to this user", ignoreCase: true },
  author: {
    kind: "string",
    meaning:
      "Only for this author: the writer of the comment or review, else the person who opened the issue, pull request or discussion, published the release, caused the workflow run or pushed. Other events have no author",
    ignoreCase: true,
  },
  branches: {
    kind: "strings",
    meaning:
      "Only for these branches, by their whole names: the pushed, created or deleted branch; the base of a pull request or of its reviews; the head of a workflow run, job or check, including a fork's; the branch of a commit's status, a merge group, a dispatch or a code scanning alert. Tags, issues, and comments on issues and pull requests have no branch",
  },
  conclusions: {
    kind: "strings",
    meaning: "Only for workflow_run events with these conclusions: success, failure and so on",
  },
  ...commonFilters,
};

const eventOf = (headers: Headers): string => header(headers, eventHeader) ?? "";

/**
 * GitHub. The signature covers the raw body only: without a signed time; event name and delivery id are not
 * signed. https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
export const github: Provider = {
  type: "github",
  about: {
    proof: "`X-Hub-Signature-256`: HMAC-SHA256 of the raw body",
    note: 'The branch of a pull request is its base branch, as in GitHub\'s own filters. A tag is not a branch. A push that deletes its branch or tag starts only agents that ask for it, with `actions = ["deleted"]` or `where = { deleted = true }`. To match comments on issues that a person opened: `where = { "issue.user.login" = "octocat" }`.',
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

/** The subjects of events, the most specific first. */
const subjects = ["comment", "review", "issue", "pull_request", "discussion", "release"] as const;
const runs = ["workflow_run", "workflow_job", "check_suite", "check_run"] as const;

const of = (things: readonly string[], field: string): string[] =>
  things.map((thing) => `${thing}.${field}`);

const bodies = of(subjects, "body");
/** `after` is that of a push; a `synchronize` repeats the head of its pull request there. */
const headCommits = [
  "pull_request.head.sha",
  ...of(runs, "head_sha"),
  "merge_group.head_sha",
  "deployment.sha",
  "comment.commit_id",
  "sha",
  "after",
];
const conclusions = of(runs, "conclusion");
const titles = of(["issue", "pull_request", "discussion"], "title");
const runNames = of(runs, "name");
const subjectUrls = of(subjects, "html_url");
const otherUrls = of([...runs, "alert", "milestone", "forkee"], "html_url");
/** The path of each thing's author; an event is by the author of the first thing that it has. */
const authors = [
  ...["comment", "review", "issue", "pull_request", "discussion"].map((thing) => ({
    thing,
    author: `${thing}.user.login`,
  })),
  { thing: "release", author: "release.author.login" },
  { thing: "workflow_run", author: "workflow_run.actor.login" },
  // The author field of a commit is free text.
  { thing: "pusher", author: "pusher.name" },
] as const;
const headBranches = of(runs, "head_branch");
/** Events whose `ref` is a full one, such as `refs/heads/main`. */
const refEvents: ReadonlySet<string> = new Set([
  "push",
  "workflow_dispatch",
  "code_scanning_alert",
]);
const labelNames = of(["issue", "pull_request", "discussion"], "labels[].name");
const assigneeLogins = [
  ...of(["issue", "pull_request"], "assignee.login"),
  ...of(["issue", "pull_request"], "assignees[].login"),
];

/** A deleted branch or tag has no commit that an agent could work on. */
const deletion: OptIn = { filter: "actions", value: "deleted", path: "deleted" };

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads */
function describeGithub(payload: Payload, event: string): EventDescription {
  const onBranches = branches(payload, event);
  const isDeletion = event === "push" && valueAt(payload, "deleted") === true;
  return {
    event,
    action: isDeletion ? deletion.value : text(payload, "action"),
    ...(isDeletion && { optIn: deletion }),
    repo: text(payload, "repository.full_name"),
    number: integer(payload, "issue.number", "pull_request.number", "discussion.number", "number"),
    title: title(payload),
    body: text(payload, ...bodies, "head_commit.message"),
    url: url(payload),
    author: author(payload, event),
    labels: labels(payload),
    sender: text(payload, "sender.login"),
    branch: onBranches[0] ?? null,
    conclusion: text(payload, ...conclusions),
    headSha: text(payload, ...headCommits),
    attributes: {
      orgs: texts(payload, "organization.login", "repository.owner.login"),
      assignee: assignees(payload),
      branches: onBranches,
      // Checks have conclusions too, but the filter is for workflow runs; a running one has null.
      conclusions: event === "workflow_run" ? text(payload, "workflow_run.conclusion") : null,
      senderIsBot: isBot(payload),
    },
  };
}

function title(payload: Payload): string | null {
  const commit = text(payload, "head_commit.message");
  return (
    text(payload, ...titles) ??
    text(payload, "release.name", "release.tag_name", "workflow_run.display_title") ??
    text(payload, ...runNames, "alert.rule.description", "milestone.title") ??
    commit?.split("\n", 1)[0] ??
    null
  );
}

function url(payload: Payload): string | null {
  return text(payload, ...subjectUrls, ...otherUrls, "compare", "repository.html_url");
}

/** A comment's author is its writer, since the agent reads the text; a deleted account has none. */
function author(payload: Payload, event: string): string | null {
  // Deployments carry the workflow run that made them, but its actor is not their author.
  const possible = authors.filter(({ thing }) => thing !== "workflow_run" || event === thing);
  const found = possible.find(({ thing }) => (valueAt(payload, thing) ?? null) !== null);
  return found === undefined ? null : text(payload, found.author);
}

function labels(payload: Payload): readonly string[] {
  const added = text(payload, "action") === "labeled" ? ["label.name"] : [];
  return texts(payload, ...labelNames, ...added);
}

function assignees(payload: Payload): readonly string[] {
  // On `unassigned`, the top-level assignee is the removed one.
  const named = text(payload, "action") === "unassigned" ? [] : ["assignee.login"];
  return texts(payload, ...named, ...assigneeLogins);
}

/** A pull request counts by its base, as the `branches` filter of GitHub's own workflows does. Tags aren't branches. */
function branches(payload: Payload, event: string): readonly string[] {
  if (refEvents.has(event)) return branchOfRef(text(payload, "ref"));
  if (event === "merge_group") return branchOfRef(text(payload, "merge_group.base_ref"));
  if (event === "repository_dispatch") return texts(payload, "branch");
  if (event === "create" || event === "delete") {
    return text(payload, "ref_type") === "branch" ? texts(payload, "ref") : [];
  }
  if (event === "status") return texts(payload, "branches[].name");
  return texts(
    payload,
    "pull_request.base.ref",
    ...headBranches,
    "check_run.check_suite.head_branch",
  );
}

function branchOfRef(ref: string | null): readonly string[] {
  const prefix = "refs/heads/";
  return ref?.startsWith(prefix) ? [ref.slice(prefix.length)] : [];
}

function isBot(payload: Payload): boolean {
  const login = text(payload, "sender.login");
  return valueAt(payload, "sender.type") === "Bot" || (login?.endsWith("[bot]") ?? false);
}
