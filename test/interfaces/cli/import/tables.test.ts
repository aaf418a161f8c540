import { parse } from "smol-toml";
import {
  translateAgent,
  translateFilters,
} from "../../../../src/interfaces/cli/import/agent-config.ts";
import {
  ourField,
  ourReference,
  theirType,
} from "../../../../src/interfaces/cli/import/credentials.ts";
import { instructionRemarks } from "../../../../src/interfaces/cli/import/plan-agent.ts";
import type { AddRemark } from "../../../../src/interfaces/cli/import/tables.ts";
import { translateProject } from "../../../../src/interfaces/cli/import/project-config.ts";
import { textFor, keyRemarks } from "../../../../src/interfaces/cli/import/tables.ts";
import { credentialType } from "../../../../src/foundation/credentials/credential-types.ts";

/** The result of a translation, and its remarks. */
function translated<T>(translate: (add: AddRemark) => T) {
  const remarks = keyRemarks();
  const table = translate(remarks.add);
  return { table, remarks: remarks.placedIn("config.toml", "") };
}

const entries = (text: string, type = "github") =>
  translated((add) => translateFilters(parse(`source = "hub"\n${text}`), type, add));

test.each([
  [
    "keeps the author of issues",
    'events = ["issues"]\nauthor = "ada"',
    [{ events: ["issues"], author: "ada" }],
  ],
  [
    "matches a review by the pull request's author",
    'events = ["pull_request_review"]\nauthor = "ada"',
    [{ events: ["pull_request_review"], where: { "pull_request.user.login": "ada" } }],
  ],
  [
    "matches a pull request by its head branch, with an entry for each branch",
    'events = ["pull_request"]\nbranches = ["a", "b"]',
    [
      { events: ["pull_request"], where: { "pull_request.head.ref": "a" } },
      { events: ["pull_request"], where: { "pull_request.head.ref": "b" } },
    ],
  ],
  [
    "does not filter events without a branch or a conclusion",
    'events = ["push", "issues"]\nbranches = ["main"]\nconclusions = ["failure"]',
    [{ events: ["push"], branches: ["main"] }, { events: ["issues"] }],
  ],
  [
    "keeps a workflow's filters",
    'events = ["workflow_run"]\nbranches = ["main"]\nconclusions = ["failure"]',
    [{ events: ["workflow_run"], branches: ["main"], conclusions: ["failure"] }],
  ],
])("an imported [[webhooks]] entry %s", (_what, text, expected) =>
  expect(entries(text).table).toEqual(expected.map((entry) => ({ source: "hub", ...entry }))),
);

test("an imported [[webhooks]] entry has the filters' new names, and no filter that its source's type lacks", () =>
  expect(entries('team_ids = ["T1"]\nguilds = ["G"]', "slack").table).toEqual([
    { source: "hub", teams: ["T1"] },
  ]));

test("an imported [[webhooks]] entry without events is reported as unclear, by filter", () =>
  expect(entries('author = "ada"').remarks).toEqual([
    expect.objectContaining({ message: expect.stringContaining("author") as string }),
  ]));

const imported = (text: string) => {
  const context = { models: ["main"], sources: new Map() };
  return translated((add) => translateAgent(parse(text), context, add));
};
const daily = 'schedule = "@daily"\n';

test.each([
  [
    'harness = { type = "claude" }',
    { harness: { type: "llm-cli", command: "claude" } },
    { message: "harness claude is the command claude of type llm-cli here" },
  ],
  [
    'harness = { type = "aider" }',
    {},
    { message: 'harness "aider" is not here; left out, so that pi is used' },
  ],
  ["preflight = [{}]", {}, { fix: '[hooks] with pre = ["a shell command"]' }],
  ['colour = "red"', {}, { message: "colour is left out: it is not a key of an agent", fix: null }],
])("an imported agent: %s becomes %j, with the remark %j", (text, keys, remark) => {
  const { table, remarks } = imported(daily + text);
  expect(table).toEqual({ ...imported(daily).table, ...keys });
  expect(remarks).toMatchObject([remark]);
});

test("an imported agent is callable only if nothing else starts it", () => {
  const callable = ["", "scale = 0", daily].map((text) => imported(text).table.callable);
  expect(callable).toEqual([true, undefined, undefined]);
});

const project = (text: string) => translated((add) => translateProject(parse(text), {}, add)).table;

test("an imported project has older keys under their new names", () =>
  expect(project("maxTriggerDepth = 2\n[gateway]\nlockTimeout = 60\nurl = 'https://a'\n")).toEqual({
    ...project(""),
    maxCallDepth: 2,
    resourceLockTimeout: 60,
  }));

test("an imported project keeps an unsigned source unsigned, and gives every other one a secret", () => {
  const open = '[webhooks.a]\ntype = "github"\nallowUnsigned = true\n';
  const signed = '[webhooks.b]\ntype = "slack"\nslack_signing_secret = "Team"\n';
  expect(project(open + signed).webhooks).toEqual({
    a: { type: "github", allowUnsigned: true },
    b: { type: "slack", credential: "Team" },
  });
});

test("an imported text is changed only in its own table", () => {
  const text = '# top\na = 1 # one\n\n[t]\n# in t\nb = "x"\nc = 2\n';
  const next = { a: 1, t: { b: "y" }, list: [{ d: 1 }] };
  const changed = textFor({ text, table: parse(text) }, next);
  expect(parse(changed)).toEqual(next);
  expect(changed).toContain("# top\na = 1 # one");
});

test.each([
  ["openai_key", "openai_key", "token", "key"],
  ["git_ssh:bot", "git_ssh:bot", "id_rsa", "private_key"],
  ["git_ssh:default", "git_ssh", "username", "name"],
  ["cloudflare_api_token", "cloudflare_token", "api_token", "token"],
  ["gcp_service_account", "gcp_service_account", "key_json", "key_file"],
  ["reddit_oauth", "reddit_oauth", "password", "password"],
  ["github_webhook_secret:Org", "github_webhook_secret:Org", "secret", "secret"],
])("the old %s becomes %s, and its field %s becomes %s", (theirs, ours, field, name) => {
  expect(ourReference(theirs)).toBe(ours);
  const [type = ""] = ours.split(":");
  const back = theirType(type);
  expect(back).toBe(theirs.split(":")[0]);
  expect(ourField(back, field)).toBe(name);
  expect(Object.keys(credentialType(type)?.fields ?? {})).toContain(name);
});

test.each([
  ['rlock "github pr $REPO#$N"', 'rlock "github:pr/$REPO/$N"'],
  ['rlock-heartbeat "deploy"', 'rlock-heartbeat "lock:deploy"'],
  ["finally al-exit", "al-exit 15"],
  ["`al-exit`", "al-exit 15"],
  ["jq -r .x.returnValue", "jq '.calls[0].value'"],
  ["see <skill-config>", "<agent-config>"],
  [
    "cat /credentials/github_token/default/token",
    "the variables that <credential-context> of the prompt names",
  ],
  ["say [RERUN]", "al-rerun, al-status, al-subagent or al-return"],
])("in imported instructions, %s becomes %s", (line, fix) => {
  expect(instructionRemarks("SKILL.md", `one\n${line}\n`)).toMatchObject([{ line: 2, fix }]);
});

test.each([
  'rlock "github://acme/app/issues/1"',
  "al-exit 1",
  "al-exit $CODE",
  "al-subagent x",
  "- [ ] todo",
])("in imported instructions, %s stays", (line) =>
  expect(instructionRemarks("SKILL.md", line)).toEqual([]),
);
