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
  "GitHub's example payloads of %s are read with event, action, repository and sender",
  (name, examples) => {
    for (const payload of examples) {
      const { event } = read("github", payload, eventHeaders("github", name));
      expect(event).toMatchObject({
        event: name,
        action: payload.action ?? null,
        repo: valueAt(payload, "repository.full_name") ?? null,
        sender: valueAt(payload, "sender.login") ?? null,
      });
    }
  },
);

test.each<[string, Partial<WebhookEvent>]>([
  ["issues opened", { number: 1, author: "Codertocat", labels: ["bug"] }],
  ["issue_comment created", { number: 1, author: "Codertocat", labels: ["bug"] }],
  ["pull_request closed", { number: 2, author: "Codertocat", conclusion: null }],
  ["pull_request_review submitted", { number: 2, author: "Codertocat" }],
  ["push", { branch: null, author: "Codertocat" }],
  ["workflow_run completed", { branch: "main", conclusion: null }],
  ["check_suite completed", { branch: "changes", conclusion: "success" }],
  ["create", { branch: null }],
  ["delete", { branch: null }],
  ["status", { branch: "master" }],
  ["release published", { title: "0.0.1" }],
  ["discussion_comment created", { author: "Codertocat" }],
  ["commit_comment created", { body: "This is a really good change! :+1:" }],
  ["star created", { number: null, url: "https://github.com/Codertocat/Hello-World" }],
  ["fork", { url: "https://github.com/Octocoders/Hello-World" }],
  ["label deleted", { labels: [] }],
  ["milestone created", { title: "v1.0", number: null }],
])("GitHub's example payload of %s is read as an event with %j", (name, expected) => {
  const [event = "", action] = name.split(" ");
  const { event: given } = read(
    "github",
    githubExample(event, action),
    eventHeaders("github", event),
  );
  expect(given).toMatchObject(expected);
});

test("GitHub's event for a push to a branch has that branch, for a push of a tag none", () => {
  const push = githubExample("push");
  const branchOf = (ref: string): unknown =>
    read("github", { ...push, ref }, eventHeaders("github", "push")).attributes.branches;
  expect(branchOf("refs/heads/feature/a")).toEqual(["feature/a"]);
  expect(branchOf("refs/tags/v1")).toEqual([]);
});

test("the assignees of a GitHub event exclude the user whom it unassigns", () => {
  const payload = {
    action: "unassigned",
    assignee: { login: "gone" },
    issue: { assignees: [{ login: "left" }] },
  };
  expect(read("github", payload).attributes.assignee).toEqual(["left"]);
  expect(read("github", { ...payload, action: "assigned" }).attributes.assignee).toContain("gone");
});

const opened = { user: { login: "opener" } };
test.each([
  ["comment is its writer", { issue: opened, comment: { user: { login: "writer" } } }, "writer"],
  ["comment of a deleted account is null", { issue: opened, comment: { user: null } }, null],
  ["review of a deleted account is null", { pull_request: opened, review: { user: null } }, null],
])("the author of a GitHub %s, not who opened the issue", (_, payload, author) => {
  expect(read("github", payload).event.author).toBe(author);
});

/** The examples' values of an attribute, each once. */
function attributesOf(event: string, attribute: "author" | "branches"): unknown[] {
  const { examples = [] } = githubExamples.find(({ name }) => name === event) ?? {};
  const headers = eventHeaders("github", event);
  return [
    ...new Set(examples.flatMap((one) => read("github", one, headers).attributes[attribute])),
  ];
}

test.each([
  ["pull_request_review", "master"],
  ["workflow_run", "main master"],
  ["check_run", "changes miniak/event-process-id master"],
  ["merge_group", "main"],
  ["repository_dispatch", "master"],
  ["code_scanning_alert", "main code-feature master"],
  ["issues", ""],
])("events from GitHub's example payloads of %s have the branches %j", (event, branches) => {
  expect(attributesOf(event, "branches").join(" ")).toBe(branches);
});

test.each(["discussion", "release", "push"])(
  "events from GitHub's example payloads of %s have the author Codertocat",
  (event) => {
    expect(attributesOf(event, "author")).toContain("Codertocat");
  },
);

test("a GitHub payload in a form field is read like JSON, and any other body is malformed", () => {
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

test("a long text of a GitHub event is cut with a note that names the stored delivery", () => {
  const { event } = read("github", { issue: { body: "😀".repeat(40_000) } });
  expect(event.body).toContain("receipt r1 holds the whole payload");
  expect(event.body?.isWellFormed()).toBe(true);
  expect(event.body?.length).toBeLessThan(66_000);
});

test("GitHub's example events without a documented author have no author", () => {
  const written = /comment|^issues$|^pull_request|^discussion|^release$|^workflow_run$|^push$/;
  const others = githubExamples.filter(({ name }) => !written.test(name));
  expect(others.length).toBeGreaterThan(30);
  for (const { name } of others) expect(attributesOf(name, "author"), name).toEqual([null]);
});
