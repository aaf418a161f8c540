import type { Payload } from "../../../../src/features/webhooks/json.ts";
import { filterOf, whyNot } from "../../../../src/features/webhooks/filter.ts";
import { keptHeaders, parseDelivery } from "../../../../src/features/webhooks/interpret.ts";
import { filterTable, providerTable } from "../../../../src/features/webhooks/providers/table.ts";
import { bytes, eventHeaders, githubExample, providerOf, read } from "../deliveries.ts";
import {
  gitlabMergeRequest,
  gitlabPipeline,
  linearComment,
  linearIssue,
  mintlifyBuild,
  sentryPayloads,
  slackMention,
  standardEvent,
  stripeEvent,
} from "../payloads.ts";

type Value = string | boolean | readonly string[];
/** Provider, event, payload, filter field, a value that lets the payload through, and one that doesn't. */
type Case = readonly [string, string, Payload, string, Value, Value];

const issue = githubExample("issues", "assigned");
const inOrg = { ...issue, organization: { login: "Octocoders" } };
const pull = githubExample("pull_request", "opened");
const run = { ...githubExample("workflow_run"), workflow_run: { conclusion: "failure" } };

const cases: readonly Case[] = [
  ["github", "issues", issue, "repos", ["a/b", "codertocat/hello-world"], ["Codertocat/Hello"]],
  ["github", "issues", inOrg, "orgs", ["octocoders"], ["octo"]],
  ["github", "issues", issue, "org", "codertocat", "octocoders"],
  ["github", "issues", issue, "events", ["push", "issues"], ["Issues"]],
  ["github", "issues", issue, "actions", ["assigned"], ["opened"]],
  ["github", "issues", issue, "labels", ["wontfix", "bug"], ["Bug"]],
  ["github", "issues", issue, "assignee", "codertocat", "octocat"],
  ["github", "issues", issue, "author", "CODERTOCAT", "octocat"],
  ["github", "pull_request", pull, "branches", ["master"], ["changes"]],
  ["github", "issues", issue, "ignoreSenders", ["someone"], ["codertocat"]],
  ["github", "workflow_run", run, "conclusions", ["failure"], ["success"]],
  ["sentry", "issue", sentryPayloads.issue, "resources", ["error", "issue"], ["comment"]],
  ["sentry", "issue", sentryPayloads.issue, "actions", ["assigned"], ["resolved"]],
  ["sentry", "issue", sentryPayloads.issue, "project", "front-end", "back-end"],
  ["linear", "", linearIssue, "organizations", ["5e7d1b9a"], ["acme"]],
  ["linear", "", linearIssue, "events", ["issues"], ["issue_comment"]],
  ["linear", "", linearIssue, "actions", ["update"], ["create"]],
  ["linear", "", linearIssue, "labels", ["P1"], ["p1"]],
  ["linear", "", linearIssue, "assignee", "SAM@example.com", "kim@example.com"],
  ["linear", "", linearIssue, "author", "Kim@example.com", "jane@example.com"],
  ["mintlify", "", mintlifyBuild, "projects", ["docs"], ["blog"]],
  ["mintlify", "", mintlifyBuild, "events", ["build"], ["deploy"]],
  ["mintlify", "", mintlifyBuild, "actions", ["failed"], ["succeeded"]],
  ["mintlify", "", mintlifyBuild, "branches", ["main"], ["next"]],
  ["gitlab", "", gitlabMergeRequest, "repos", ["acme/web"], ["acme/app"]],
  ["gitlab", "", gitlabMergeRequest, "events", ["merge_request"], ["push"]],
  ["gitlab", "", gitlabMergeRequest, "actions", ["open"], ["close"]],
  ["gitlab", "", gitlabMergeRequest, "labels", ["API"], ["UI"]],
  ["gitlab", "", gitlabMergeRequest, "assignee", "alice", "bob"],
  ["gitlab", "", gitlabMergeRequest, "branches", ["main"], ["ms-viewport"]],
  ["gitlab", "", gitlabPipeline, "conclusions", ["failed"], ["success"]],
  ["slack", "", slackMention, "channels", ["C123ABC456"], ["C1"]],
  ["slack", "", slackMention, "teams", ["T123ABC456"], ["T1"]],
  ["slack", "", slackMention, "events", ["app_mention"], ["message"]],
  ["slack", "", slackMention, "author", "U123ABC456", "U1"],
  ["stripe", "", stripeEvent, "accounts", ["acct_1"], ["acct_2"]],
  ["stripe", "", stripeEvent, "events", ["customer.subscription.created"], ["invoice.paid"]],
  ["stripe", "", stripeEvent, "actions", ["created"], ["paid"]],
  ["stripe", "", stripeEvent, "livemode", false, true],
  ["standard", "", standardEvent, "events", ["contact.created"], ["contact.deleted"]],
  ["standard", "", standardEvent, "actions", ["created"], ["deleted"]],
];

function why(type: string, event: string, payload: Payload, field: string, value: Value): unknown {
  const rule = providerOf(type).filters[field];
  if (rule === undefined) throw new Error(`${type} has no filter ${field}`);
  const { attributes } = read(type, payload, eventHeaders(type, event));
  return whyNot(filterOf(field, rule, value), attributes);
}

test.each(cases)(
  "%s %s: %#: a filter lets its event through and no other",
  (type, event, payload, field, matching, other) => {
    expect(why(type, event, payload, field, matching)).toBeNull();
    expect(why(type, event, payload, field, other)).toEqual(expect.stringContaining(field));
  },
);

test("every filter field of every provider has a test case", () => {
  const tested = new Set(cases.map(([type, , , field]) => `${type} ${field}`));
  const common = new Set(["ignoreSenders", "ignoreBots"]);
  const all = Object.entries(filterTable).flatMap(([type, fields]) =>
    Object.keys(fields)
      .filter((field) => !common.has(field))
      .map((field) => `${type} ${field}`),
  );
  const untested = all.filter((field) => !tested.has(field));
  // A Slack subtype needs another payload.
  expect(untested).toEqual(["slack actions"]);
  const edited = { event: { type: "message", subtype: "message_changed" } };
  expect(why("slack", "", edited, "actions", ["message_changed"])).toBeNull();
  expect(why("slack", "", slackMention, "actions", ["message_changed"])).not.toBeNull();
});

const workflow = (conclusion: string | null) => ({ workflow_run: { conclusion } });
test.each<[string, string, Payload, string, Value]>([
  ["github", "check_suite", { check_suite: { conclusion: "success" } }, "conclusions", ["success"]],
  ["github", "deployment", workflow("success"), "conclusions", ["success"]],
  ["github", "workflow_run", workflow(null), "conclusions", ["null", "success"]],
  ["linear", "", linearComment, "labels", ["Bug"]],
  ["linear", "", linearComment, "assignee", "sam@example.com"],
  ["github", "ping", {}, "repos", []],
])(
  "a filter matches no value that the event lacks: %s %s %#",
  (type, event, payload, field, value) => {
    expect(why(type, event, payload, field, value)).toBe(
      `${field} is set and the event carries none`,
    );
  },
);

test("a Linear filter for delete means remove", () => {
  const removed = { ...linearIssue, action: "remove" };
  for (const action of ["delete", "remove"])
    expect(why("linear", "", removed, "actions", [action])).toBeNull();
});

const bot = { sender: { login: "almanac[bot]", type: "Bot" } };
const person = { sender: { login: "octocat", type: "User" } };
test.each<[string, Payload, string, Value, string | null]>([
  ["keeps out bots", bot, "ignoreBots", true, "ignoreBots keeps out events of bots"],
  ["that is off keeps out no bots", bot, "ignoreBots", false, null],
  ["keeps out no people", person, "ignoreBots", true, null],
  ["names a sender", bot, "ignoreSenders", ["Almanac[bot]"], "ignoreSenders includes almanac[bot]"],
  ["accepts an event without a sender", {}, "ignoreSenders", ["octocat"], null],
])("a filter that ignores senders %s", (_, payload, field, value, reason) => {
  expect(why("github", "issues", payload, field, value)).toBe(reason);
});

test("a reason is one short line for any sender's text", () => {
  const repository = { full_name: `a/b\n\u001b[31m\u202e${"x".repeat(5_000)}` };
  const reason = why("github", "issues", { repository }, "repos", ["a/b"]);
  expect(reason).toEqual(expect.stringMatching(/^repos does not include a\/b \[31m x+…$/));
  expect(String(reason).length).toBeLessThan(200);
});

test("stored headers hold no signature, token or cookie", () => {
  for (const provider of providerTable.values()) {
    const secret = [...provider.secretHeaders, "authorization", "cookie", "x-api-key"];
    const kept = ["content-type", "user-agent", ...provider.keptHeaders];
    const headers = Object.fromEntries([...secret, ...kept].map((name) => [name, "value"]));
    expect(Object.keys(keptHeaders(provider, headers)).sort()).toEqual([...new Set(kept)].sort());
    expect(kept.filter((name) => secret.includes(name))).toEqual([]);
  }
});

test("a body nested a hundred thousand deep is read or refused, not a crash", () => {
  const deep = `${'{"issue":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  for (const provider of providerTable.values()) {
    const request = { headers: eventHeaders(provider.type, "issues"), body: bytes(deep) };
    const parsed = parseDelivery(provider, request);
    if (parsed.ok) read(provider.type, parsed.payload, request.headers);
  }
});
