import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Payload } from "../../../../src/features/webhooks/json.ts";
import { valueAt } from "../../../../streams/where.ts";
import { eventHeaders, githubExample, read } from "../deliveries.ts";
import payloads from "../payloads.json" with { type: "json" };

/** What a payload is read as: a text of over 120 characters, and an attribute equal to its event's field, are left out. */
interface Sample {
  readonly what: string;
  readonly type: string;
  readonly event?: string;
  /** Of `@octokit/webhooks-examples`: an event and an action. */
  readonly example?: string;
  /** Of `payloads.json`. */
  readonly sample?: string;
  readonly payload?: Payload;
  readonly read: object;
}

const samples = readFileSync(join(import.meta.dirname, "events.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Sample);

test.each(samples)(
  "the webhook payload of $what is read as events.jsonl says",
  ({ type, example = "", sample, event = example.split(" ")[0] ?? "", ...one }) => {
    const [name = "", action] = example.split(" ");
    const found = sample === undefined ? one.payload : (valueAt(payloads, sample) as Payload);
    const payload = found ?? githubExample(name, action);
    expect(read(type, payload, eventHeaders(type, event))).toMatchObject(one.read);
  },
);
