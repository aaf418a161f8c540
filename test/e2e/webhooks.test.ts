import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openStore } from "../../src/foundation/store/store.ts";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import { interpretStored } from "../../src/features/webhooks/interpret.ts";
import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { forAll, LiveProject } from "../helpers/live-project.ts";
import type { TestScheduler } from "../helpers/scheduler.ts";
import { bytes, githubExample, githubExamples } from "../features/webhooks/deliveries.ts";
import { sendLoad } from "../features/webhooks/load.ts";
import type { LoadRequest } from "../features/webhooks/load.ts";
import {
  secretOf,
  storeSecret,
  types,
  webhookProject,
} from "../features/webhooks/webhook-project.ts";

let project: LiveProject;
let scheduler: TestScheduler;

/** Never started, so that nothing but the receiving is measured; what it misses is a dead letter each. */
const listener = '[[webhooks]]\nsource = "github"\nactions = ["never"]\n';

forAll(async () => {
  project = new LiveProject(await webhookProject({ listener }));
  scheduler = await project.start();
});

interface Sent {
  readonly event?: string;
  readonly id?: string;
  readonly secret?: string;
}

/** A delivery that its provider's source believes. */
function signed(type: string, body: Buffer, sent: Sent = {}): LoadRequest {
  const { secret = secretOf(type), event = "issues", id } = sent;
  const options = id === undefined ? { event } : { event, id };
  const headers = signDelivery(type, secret, body, Date.now(), options);
  return { path: `/webhooks/${type}/${type}`, headers, body };
}

async function statuses(requests: readonly LoadRequest[]): Promise<(number | null)[]> {
  const answers = await sendLoad(scheduler.url, requests, 20);
  return answers.toSorted((a, b) => a.index - b.index).map(({ status }) => status);
}

async function status(one: LoadRequest): Promise<number | null> {
  return (await statuses([one]))[0] ?? null;
}

describe("GitHub's own examples", () => {
  test("are all answered 200, stored byte for byte and normalized", async () => {
    const all = githubExamples.flatMap(({ name, examples }) =>
      examples.map((payload) => ({ name, payload, body: bytes(payload) })),
    );
    const requests = all.map(({ name, body }, n) =>
      signed("github", body, { event: name, id: `example-${n}` }),
    );
    const answers = await sendLoad(scheduler.url, requests, 20);
    expect(answers.map((answer) => answer.status)).toEqual(all.map(() => 200));
    // The store is read beside the scheduler that writes it.
    const store = openStore(project.dir);
    try {
      for (const { index, text } of answers) {
        const { name, payload, body } = all[index] ?? { name: "", payload: {}, body: bytes("") };
        const { receiptId, pong } = JSON.parse(text) as { receiptId?: string; pong?: boolean };
        if (name === "ping") {
          expect(pong).toBe(true);
          continue;
        }
        const receipt = store.receipts.get(receiptId ?? "");
        expect(Buffer.from(receipt?.body ?? []).equals(body)).toBe(true);
        expect(receipt).toMatchObject({ source: "github", deliveryId: `example-${index}` });
        expect(receipt && interpretStored(receipt)?.event).toMatchObject({
          ...{ event: name, action: payload.action ?? null, receiptId },
        });
      }
    } finally {
      store.close();
    }
    const dead = await project.json<HistoryPage>("/api/stats/triggers?deadLetter=true&limit=1");
    const pings = all.filter(({ name }) => name === "ping").length;
    expect(dead.total).toBe(all.length - pings);
  });

  test("are accepted as a form too", async () => {
    const form = bytes(
      `payload=${encodeURIComponent(JSON.stringify(githubExample("issues", "opened")))}`,
    );
    const delivery = signed("github", form);
    const headers = { ...delivery.headers, "content-type": "application/x-www-form-urlencoded" };
    expect(await status({ ...delivery, headers })).toBe(200);
  });
});

describe("a body changed in transit", () => {
  test.each(types)(
    "is rejected by %s for any changed byte, and the original accepted",
    async (type) => {
      const id = `flip-${type}`;
      const body = bytes({ webhookTimestamp: Date.now(), type: "Issue", id, event_id: id });
      const good = signed(type, body, { id });
      const flipped = Array.from(body, (byte, at) => {
        const changed = Buffer.from(body);
        changed[at] = byte ^ (1 << (at % 8));
        return { ...good, body: changed };
      });
      expect(new Set(await statuses(flipped))).toEqual(new Set([401]));
      expect(await statuses([good, good])).toEqual([200, 200]);
      const again = await sendLoad(scheduler.url, [good], 1);
      // Mintlify's deliveries have no id to know them by.
      const isDuplicate = "duplicate" in (JSON.parse(again[0]?.text ?? "") as object);
      expect(isDuplicate).toBe(type !== "mintlify");
    },
  );
});

describe("any request", () => {
  const name = fc.oneof(
    fc.constantFrom(...types, ...types.map((type) => `open-${type}`)),
    fc.string().map(encodeURIComponent),
    fc.constantFrom("", ".", "..", "%", "%00", "%zz", "%2e%2e", "__proto__", "a".repeat(3_000)),
  );
  const path = fc.oneof(
    // Without a signature to get past, the bytes reach all of the reading.
    fc.constantFrom(...types.map((type) => `/webhooks/${type}/open-${type}`)),
    fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `/webhooks/${names.join("/")}`),
  );
  const value = fc
    .string({ maxLength: 80 })
    .map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, "?"));
  const headerNames = [
    ...["x-hub-signature-256", "x-github-event", "x-github-delivery", "sentry-hook-resource"],
    ...["sentry-hook-signature", "linear-signature", "x-slack-signature", "stripe-signature"],
    ...["x-slack-request-timestamp", "webhook-id", "webhook-timestamp", "webhook-signature"],
    ...["x-gitlab-token", "content-type", "x-mintlify-signature", "accept", "content-encoding"],
  ];
  const headers = fc.dictionary(fc.constantFrom(...headerNames), value);
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((data) => Buffer.from(data)),
    fc.json().map(bytes),
    fc.constantFrom('{"__proto__":1}', "[]", "null", "payload=%7B%7D", "﻿{}").map(bytes),
  );

  test("to any webhook path is answered with 2xx or 4xx, and the scheduler keeps running", async () => {
    await fc.assert(
      fc.asyncProperty(path, headers, body, fc.constantFrom("POST", "POST", "PUT", "GET"), ask),
      { numRuns: 1_500 },
    );
    // Or it tried nothing.
    expect([...seen].sort()).toEqual(expect.arrayContaining([200, 400, 401, 404]));
    expect((await fetch(`${scheduler.url}/health`)).status).toBe(200);
    expect(scheduler.output()).not.toMatch(/ failed: |scheduler broke/);
  }, 120_000);

  const seen = new Set<number>();
  async function ask(
    path: string,
    headers: Record<string, string>,
    body: Buffer,
    method: string,
  ): Promise<void> {
    const status = await new Promise<number>((resolve, reject) => {
      // Without a length the body of a GET would be bytes of a next request.
      const framed = { ...headers, "content-length": String(body.length) };
      const options = { path, method, headers: framed, agent: false };
      const sent = request(`${scheduler.url}/`, options, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      });
      sent.on("error", reject);
      sent.end(body);
    });
    seen.add(status);
    expect(String(status)).toMatch(/^[24]\d\d$/);
  }

  test("that is too large gets 413 and is not stored", async () => {
    const { path, headers } = signed("github", bytes({}));
    // The answer comes before the body, which is never sent.
    const large = { ...headers, "content-length": String(25 * 1024 ** 2 + 1) };
    const sent = request(`${scheduler.url}${path}`, { method: "POST", headers: large });
    sent.flushHeaders();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    sent.destroy();
  });
});

describe("a source's secret", () => {
  const delivery = (secret: string): LoadRequest =>
    signed("sentry", bytes({ action: "created" }), { secret, event: "issue" });

  test("is active once its file is saved, beside the old one during a rotation", async () => {
    expect(await statuses([delivery("hush-sentry"), delivery("new")])).toEqual([200, 401]);
    await storeSecret(project, "sentry", "new", "next");
    await expect.poll(() => status(delivery("new")), { timeout: 5_000 }).toBe(200);
    expect(await status(delivery("hush-sentry"))).toBe(200);
    await storeSecret(project, "sentry", "newest");
    await expect.poll(() => status(delivery("hush-sentry")), { timeout: 5_000 }).toBe(401);
    expect(await statuses([delivery("new"), delivery("newest")])).toEqual([200, 200]);
  });

  test("is neither logged nor stored", async () => {
    const store = openStore(project.dir);
    const answer = await sendLoad(scheduler.url, [delivery("newest")], 1);
    const { receiptId } = JSON.parse(answer[0]?.text ?? "") as { receiptId: string };
    expect(JSON.stringify(store.receipts.get(receiptId)?.headers)).not.toMatch(/signature|newest/);
    store.close();
    expect(scheduler.output()).not.toMatch(/hush-|newest/);
  });
});

describe("an unsigned source", () => {
  test("causes a warning at the start and answers at its own path only", async () => {
    const warnings = scheduler.output().match(/WARN .*open-github takes unsigned deliveries: /g);
    expect(warnings).toHaveLength(1);
    const body = bytes({ action: "opened" });
    const headers = { "x-github-event": "issues" };
    expect(
      await statuses([
        { path: "/webhooks/github/open-github", headers, body },
        { path: "/webhooks/github/github", headers, body },
        { path: "/webhooks/github", headers, body },
      ]),
    ).toEqual([200, 401, 401]);
  });
});

test("al webhook send delivers to the running gateway and shows why nothing started", async () => {
  await project.write("payload.json", JSON.stringify(githubExample("issues", "opened")));
  const flags = ["--source", "github", "--event", "issues"];
  const { code, stdout, stderr } = await project.al(
    ...["webhook", "send", project.path("payload.json"), ...flags],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`200 from ${scheduler.url}/webhooks/github/github`);
  expect(stdout).toMatch(
    /receipt \S+: no agent was started; agent listener: actions does not include opened/,
  );
});
