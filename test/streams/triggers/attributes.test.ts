import { attributesOf } from "../../../streams/triggers/attributes.ts";
import type { Trigger, WebhookEvent } from "../../../streams/vocabulary.ts";

const event: WebhookEvent = {
  source: "github",
  type: "github",
  event: "pull_request",
  action: "synchronize",
  repo: "octo/site",
  number: 7,
  title: "Speed up",
  body: "",
  url: null,
  author: "mona",
  labels: ["slow"],
  sender: "hubot",
  branch: "",
  conclusion: null,
  headSha: "ec26c3e57ca3a959ca5aad62de7213c562f8c821",
  timestamp: "2026-11-29T10:00:00Z",
  receiptId: "r1",
};

test("the attributes of a webhook are the fields that its event has", () => {
  expect(attributesOf({ kind: "webhook", event })).toEqual({
    trigger: "webhook",
    source: "github",
    event: "pull_request",
    action: "synchronize",
    repository: "octo/site",
    number: "7",
    head_sha: "ec26c3e57ca3a959ca5aad62de7213c562f8c821",
    author: "mona",
    sender: "hubot",
  });
});

const call: Trigger = {
  kind: "agent-call",
  callId: "c1",
  caller: "lead",
  callerInstance: "lead-1",
  depth: 1,
  root: "w1",
  context: "",
  cancelOnExit: false,
};
const tick: Trigger = { kind: "cron", scheduledFor: 0 };

test.each([
  [call, { trigger: "call", caller: "lead" }],
  [tick, { trigger: "schedule" }],
  [{ kind: "manual", prompt: "Hello" } as const, { trigger: "manual" }],
])("the attributes of the trigger %o are %o", (trigger, attributes) => {
  expect(attributesOf(trigger)).toEqual(attributes);
});
