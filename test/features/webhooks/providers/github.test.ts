import type { WebhookEvent } from "../../../../streams/vocabulary.ts";
import { parseDelivery } from "../../../../src/features/webhooks/interpret.ts";
import { valueAt } from "../../../../streams/where.ts";
import {
  bytes,
  eventHeaders,
  githubExample,
  githubExamples,
  providerOf,
  read,
} from "../deliveries.ts";

test.each(githubExamples.map(({ name, examples }) => [name, examples] as const))(
  "every example of %s is normalized with its event, action, repository and sender",
  (name, examples) => {
    for (const payload of examples) {
      const { event } = read("github", payload, eventHeaders("github", name));
      expect(event.event).toBe(name);
      expect(event.action).toBe(payload.action ?? null);
      expect(event.repo).toBe(valueAt(payload, "repository.full_name") ?? null);
      expect(event.sender).toBe(valueAt(payload, "sender.login") ?? null);
    }
  },
);

const by = (event: string, action?: string): WebhookEvent =>
  read("github", githubExample(event, action), eventHeaders("github", event)).event;

const repo = "Codertocat/Hello-World";

test.each<[string, string | undefined, Partial<WebhookEvent>]>([
  ["issues", "opened", { number: 1, author: "Codertocat", labels: ["bug"], branch: null, repo }],
  ["issues", "labeled", { title: "Spelling error in the README file", labels: ["bug"] }],
  ["issues", "assigned", { sender: "Codertocat", action: "assigned" }],
  ["issue_comment", "created", { number: 1, author: "Codertocat", labels: ["bug"] }],
  ["pull_request", "opened", { number: 2, branch: "master", author: "Codertocat" }],
  ["pull_request", "closed", { branch: "master", conclusion: null }],
  ["pull_request_review", "submitted", { number: 2, branch: "master", author: "Codertocat" }],
  ["pull_request_review_comment", "created", { number: 2, branch: "master" }],
  ["push", undefined, { action: null, branch: null, author: "Codertocat" }],
  ["workflow_run", "completed", { branch: "main", conclusion: null }],
  ["workflow_job", "in_progress", { repo: "octo-org/example-workflow", sender: "octocat" }],
  ["check_suite", "completed", { branch: "changes", conclusion: "success" }],
  ["check_run", "created", { conclusion: null, branch: "changes" }],
  ["create", undefined, { branch: null, action: null }],
  ["delete", undefined, { branch: null }],
  ["status", undefined, { branch: "master" }],
  ["release", "published", { title: "0.0.1", author: "Codertocat" }],
  ["discussion", "created", { repo: "octo-org/octo-repo", author: "Codertocat" }],
  ["discussion_comment", "created", { author: "Codertocat", action: "created" }],
  ["commit_comment", "created", { body: "This is a really good change! :+1:" }],
  ["star", "created", { author: null, number: null, url: `https://github.com/${repo}` }],
  ["fork", undefined, { sender: "Octocoders", url: "https://github.com/Octocoders/Hello-World" }],
  ["membership", "removed", { repo: null, sender: "Codertocat" }],
  ["ping", undefined, { event: "ping" }],
  ["label", "deleted", { labels: [], repo }],
  ["milestone", "created", { title: "v1.0", number: null }],
  ["github_app_authorization", "revoked", { repo: null, labels: [] }],
])("%s %s has the fields of its example", (event, action, expected) => {
  expect(by(event, action)).toMatchObject(expected);
});

test("a push to a branch has that branch, a push of a tag has none", () => {
  const push = githubExample("push");
  const branchOf = (ref: string): unknown =>
    read("github", { ...push, ref }, eventHeaders("github", "push")).attributes.branches;
  expect(branchOf("refs/heads/feature/a")).toEqual(["feature/a"]);
  expect(branchOf("refs/tags/v1")).toEqual([]);
});

test("the assignees exclude the user whom the event unassigns", () => {
  const payload = {
    action: "unassigned",
    assignee: { login: "gone" },
    issue: { assignees: [{ login: "left" }] },
  };
  expect(read("github", payload).attributes.assignee).toEqual(["left"]);
  expect(read("github", { ...payload, action: "assigned" }).attributes.assignee).toContain("gone");
});

test("a comment's author is its writer, not who opened the issue", () => {
  const payload = { issue: { user: { login: "opener" } }, comment: { user: { login: "writer" } } };
  expect(read("github", payload).event.author).toBe("writer");
});

test("a deleted account's comment has no author, not that of its issue", () => {
  const issue = { user: { login: "opener" } };
  expect(read("github", { issue, comment: { user: null } }).event.author).toBeNull();
  expect(
    read("github", { pull_request: issue, review: { user: null } }).attributes.author,
  ).toBeNull();
});

/** The examples' values of a attribute, each once. */
function attributesOf(event: string, attribute: "author" | "branches"): unknown[] {
  const { examples } = githubExamples.find(({ name }) => name === event) ?? { examples: [] };
  const all = examples.flatMap(
    (payload) => read("github", payload, eventHeaders("github", event)).attributes[attribute],
  );
  return [...new Set(all)];
}

test.each([
  ["push", ["master"]],
  ["pull_request", ["master"]],
  ["pull_request_review", ["master"]],
  ["pull_request_review_comment", ["master"]],
  ["workflow_run", ["main", "master"]],
  ["check_run", ["changes", "miniak/event-process-id", "master"]],
  ["workflow_dispatch", ["main", "master"]],
  ["merge_group", ["main"]],
  ["repository_dispatch", ["master"]],
  ["code_scanning_alert", ["main", "code-feature", "master"]],
  ["issues", []],
  ["issue_comment", []],
  ["release", []],
])("the branches of %s are those in GitHub's documentation", (event, branches) => {
  expect(attributesOf(event, "branches")).toEqual(branches);
});

test.each([
  ["discussion", ["Codertocat"]],
  ["release", ["Codertocat"]],
  ["push", ["Codertocat"]],
  ["star", [null]],
  ["status", [null]],
])("the authors of %s are those in GitHub's documentation", (event, authors) => {
  expect(attributesOf(event, "author")).toEqual(expect.arrayContaining(authors));
});

test("a form with a payload is read like JSON, and any other body is malformed", () => {
  const github = providerOf("github");
  const parse = (body: string, contentType: string, event = "push"): unknown =>
    parseDelivery(github, {
      headers: { "content-type": contentType, "x-github-event": event },
      body: bytes(body),
    });
  const form = "application/x-www-form-urlencoded";
  const payload = { zen: "a&b=ü +%" };
  const encoded = `payload=${encodeURIComponent(JSON.stringify(payload))}`;
  expect(parse(encoded, form)).toEqual({ ok: true, payload });
  expect(parse(JSON.stringify(payload), "application/json")).toEqual({ ok: true, payload });
  expect(parse("other=1", form)).toMatchObject({ ok: false });
  expect(parse(encoded, "application/json")).toMatchObject({ ok: false });
  expect(parse("{}", "application/json", "")).toMatchObject({ ok: false });
});

test("a long body is cut with a note that names the receipt", () => {
  const { event } = read("github", { issue: { body: "😀".repeat(40_000) } });
  expect(event.body).toContain("receipt r1 holds the whole payload");
  expect(event.body?.isWellFormed()).toBe(true);
  expect(event.body?.length).toBeLessThan(66_000);
});

test("events without a documented author have none, in all of GitHub's examples", () => {
  const written = /comment|^issues$|^pull_request|^discussion|^release$|^workflow_run$|^push$/;
  const others = githubExamples.filter(({ name }) => !written.test(name));
  expect(others.length).toBeGreaterThan(30);
  for (const { name, examples } of others) {
    const authors = examples.map((one) => read("github", one, eventHeaders("github", name)));
    expect(new Set(authors.map(({ attributes }) => attributes.author)), name).toEqual(
      new Set([null]),
    );
  }
});
