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
const issue = githubExample("issues", "assigned");
const inOrg = { ...issue, organization: { login: "Octocoders" } };
const pull = githubExample("pull_request", "opened");
const run = { ...githubExample("workflow_run"), workflow_run: { conclusion: "failure" } };

/** Filters by field: a value that lets the payload through, and one that doesn't. */
type Filters = Readonly<Record<string, readonly [Value, Value]>>;
const cases: readonly (readonly [type: string, event: string, Payload, Filters])[] = [
  [
    "github",
    "issues",
    issue,
    {
      repos: [["a/b", "codertocat/hello-world"], ["Codertocat/Hello"]],
      org: ["codertocat", "octocoders"],
      events: [["push", "issues"], ["Issues"]],
      actions: [["assigned"], ["opened"]],
      labels: [["wontfix", "bug"], ["Bug"]],
      assignee: ["codertocat", "octocat"],
      author: ["CODERTOCAT", "octocat"],
      ignoreSenders: [["someone"], ["codertocat"]],
    },
  ],
  ["github", "issues", inOrg, { orgs: [["octocoders"], ["octo"]] }],
  ["github", "pull_request", pull, { branches: [["master"], ["changes"]] }],
  ["github", "workflow_run", run, { conclusions: [["failure"], ["success"]] }],
  [
    "sentry",
    "issue",
    sentryPayloads.issue,
    {
      resources: [["error", "issue"], ["comment"]],
      actions: [["assigned"], ["resolved"]],
      project: ["front-end", "back-end"],
    },
  ],
  [
    "linear",
    "",
    linearIssue,
    {
      organizations: [["5e7d1b9a"], ["acme"]],
      events: [["issues"], ["issue_comment"]],
      actions: [["update"], ["create"]],
      labels: [["P1"], ["p1"]],
      assignee: ["SAM@example.com", "kim@example.com"],
      author: ["Kim@example.com", "jane@example.com"],
    },
  ],
  [
    "mintlify",
    "",
    mintlifyBuild,
    {
      projects: [["docs"], ["blog"]],
      events: [["build"], ["deploy"]],
      actions: [["failed"], ["succeeded"]],
      branches: [["main"], ["next"]],
    },
  ],
  [
    "gitlab",
    "",
    gitlabMergeRequest,
    {
      repos: [["acme/web"], ["acme/app"]],
      events: [["merge_request"], ["push"]],
      actions: [["open"], ["close"]],
      labels: [["API"], ["UI"]],
      assignee: ["alice", "bob"],
      branches: [["main"], ["ms-viewport"]],
    },
  ],
  ["gitlab", "", gitlabPipeline, { conclusions: [["failed"], ["success"]] }],
  [
    "slack",
    "",
    slackMention,
    {
      channels: [["C123ABC456"], ["C1"]],
      teams: [["T123ABC456"], ["T1"]],
      events: [["app_mention"], ["message"]],
      author: ["U123ABC456", "U1"],
    },
  ],
  [
    "slack",
    "",
    { event: { type: "message", subtype: "message_changed" } },
    { actions: [["message_changed"], ["message_deleted"]] },
  ],
  [
    "stripe",
    "",
    stripeEvent,
    {
      accounts: [["acct_1"], ["acct_2"]],
      events: [["customer.subscription.created"], ["invoice.paid"]],
      actions: [["created"], ["paid"]],
      livemode: [false, true],
    },
  ],
  [
    "standard",
    "",
    standardEvent,
    {
      events: [["contact.created"], ["contact.deleted"]],
      actions: [["created"], ["deleted"]],
    },
  ],
];

function why(
  type: string,
  event: string,
  payload: Payload,
  field: string,
  value: Value,
): string | null {
  const rule = providerOf(type).filters[field];
  if (rule === undefined) throw new Error(`${type} has no filter ${field}`);
  const { attributes } = read(type, payload, eventHeaders(type, event));
  return whyNot(filterOf(field, rule, value), attributes);
}

test.each(cases.map((one) => [one[0], Object.keys(one[3]).join(), ...one] as const))(
  "an event from %s passes a webhook filter only if the values match, for the fields %s",
  (_type, _fields, type, event, payload, filters) => {
    for (const [field, [matching, other]] of Object.entries(filters)) {
      expect(why(type, event, payload, field, matching), field).toBeNull();
      expect(why(type, event, payload, field, other)).toContain(field);
    }
  },
);

test("every filter field of every webhook provider has a test case", () => {
  const tested = cases.flatMap(([type, , , filters]) =>
    Object.keys(filters).map((field) => `${type} ${field}`),
  );
  const all = Object.entries(filterTable).flatMap(([type, fields]) =>
    Object.keys(fields)
      .filter((field) => !field.startsWith("ignore"))
      .map((field) => `${type} ${field}`),
  );
  expect(all.filter((field) => !tested.includes(field))).toEqual([]);
});

const workflow = (conclusion: string | null) => ({ workflow_run: { conclusion } });
const suite = { check_suite: { conclusion: "success" } };
test.each<[string, Value, string, string, Payload]>([
  ["conclusions", ["success"], "github", "check_suite", suite],
  ["conclusions", ["success"], "github", "deployment", workflow("success")],
  ["conclusions", ["null", "success"], "github", "workflow_run", workflow(null)],
  ["labels", ["Bug"], "linear", "Comment", linearComment],
  ["assignee", "sam@example.com", "linear", "Comment", linearComment],
  ["repos", [], "github", "ping", {}],
])(
  "the webhook filter %s = %j rejects an event from %s without such a value: %s",
  (field, value, type, event, payload) => {
    expect(why(type, event, payload, field, value)).toBe(
      `${field} is set and the event carries none`,
    );
  },
);

test('a webhook filter for Linear\'s action "delete" matches the action "remove"', () => {
  const removed = { ...linearIssue, action: "remove" };
  for (const action of ["delete", "remove"])
    expect(why("linear", "", removed, "actions", [action])).toBeNull();
});

const bot = { sender: { login: "almanac[bot]", type: "Bot" } };
const person = { sender: { login: "octocat", type: "User" } };
test.each<[string, Payload, string, Value, string | null]>([
  [
    "ignoreBots = true rejects events of bots",
    bot,
    "ignoreBots",
    true,
    "ignoreBots keeps out events of bots",
  ],
  ["ignoreBots = false lets events of bots pass", bot, "ignoreBots", false, null],
  ["ignoreBots = true lets events of people pass", person, "ignoreBots", true, null],
  [
    "ignoreSenders rejects a listed sender, in any case",
    bot,
    "ignoreSenders",
    ["Almanac[bot]"],
    "ignoreSenders includes almanac[bot]",
  ],
  ["ignoreSenders lets an event without a sender pass", {}, "ignoreSenders", ["octocat"], null],
])("the webhook filter %s", (_, payload, field, value, reason) => {
  expect(why("github", "issues", payload, field, value)).toBe(reason);
});

test("the reason why a webhook filter rejects an event is one short line for any text of the sender", () => {
  const repository = { full_name: `a/b\n\u001b[31m\u202e${"x".repeat(5_000)}` };
  const reason = why("github", "issues", { repository }, "repos", ["a/b"]);
  expect(reason).toEqual(expect.stringMatching(/^repos does not include a\/b \[31m x+…$/));
  expect(String(reason).length).toBeLessThan(200);
});

test("stored headers of webhook deliveries exclude signatures, tokens and cookies", () => {
  for (const provider of providerTable.values()) {
    const secret = [...provider.secretHeaders, "authorization", "cookie", "x-api-key"];
    const kept = ["content-type", "user-agent", ...provider.keptHeaders];
    const headers = Object.fromEntries([...secret, ...kept].map((name) => [name, "value"]));
    expect(Object.keys(keptHeaders(provider, headers)).sort()).toEqual([...new Set(kept)].sort());
    expect(kept.filter((name) => secret.includes(name))).toEqual([]);
  }
});

test("a webhook body nested a hundred thousand levels deep is read or rejected without a crash", () => {
  const deep = `${'{"issue":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  for (const provider of providerTable.values()) {
    const request = { headers: eventHeaders(provider.type, "issues"), body: bytes(deep) };
    const parsed = parseDelivery(provider, request);
    if (parsed.ok) read(provider.type, parsed.payload, request.headers);
  }
});
