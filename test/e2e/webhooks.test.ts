import { openStore } from "../../src/foundation/store/store.ts";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import { interpretStored } from "../../src/features/webhooks/interpret.ts";
import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { forAll, LiveProject } from "../helpers/live-project.ts";
import type { TestScheduler } from "../helpers/scheduler.ts";
import { bytes, githubExample, githubExamples } from "../features/webhooks/deliveries.ts";
import { sendLoad, type LoadRequest } from "../features/webhooks/load.ts";
import { secretOf, storeSecret, webhookProject } from "../features/webhooks/webhook-project.ts";

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

test("GitHub's own examples are all answered 200, stored byte for byte and normalized", async () => {
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
        event: name,
        action: payload.action ?? null,
        receiptId,
      });
    }
  } finally {
    store.close();
  }
  const dead = await project.json<HistoryPage>("/api/stats/triggers?deadLetter=true&limit=1");
  const pings = all.filter(({ name }) => name === "ping").length;
  expect(dead.total).toBe(all.length - pings);
});

const delivery = (secret: string): LoadRequest =>
  signed("sentry", bytes({ action: "created" }), { secret, event: "issue" });

test("a source's secret is active once its file is saved, beside the old one during a rotation", async () => {
  expect(await statuses([delivery("hush-sentry"), delivery("new")])).toEqual([200, 401]);
  await storeSecret(project, "sentry", "new", "next");
  await expect.poll(() => status(delivery("new"))).toBe(200);
  expect(await status(delivery("hush-sentry"))).toBe(200);
  await storeSecret(project, "sentry", "newest");
  await expect.poll(() => status(delivery("hush-sentry"))).toBe(401);
  expect(await statuses([delivery("new"), delivery("newest")])).toEqual([200, 200]);
});

test("a source's secret is neither logged nor stored", async () => {
  const store = openStore(project.dir);
  const answer = await sendLoad(scheduler.url, [delivery("newest")], 1);
  const { receiptId } = JSON.parse(answer[0]?.text ?? "") as { receiptId: string };
  expect(JSON.stringify(store.receipts.get(receiptId)?.headers)).not.toMatch(/signature|newest/);
  store.close();
  expect(scheduler.output()).not.toMatch(/hush-|newest/);
});

test("an unsigned source causes a warning at the start and answers at its own path only", async () => {
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

test("al webhook send delivers to the running gateway and shows why nothing started", async () => {
  await project.write("payload.json", JSON.stringify(githubExample("issues", "opened")));
  const flags = ["--source", "github", "--event", "issues"];
  const { code, stdout, stderr } = await project.al(
    "webhook",
    "send",
    project.path("payload.json"),
    ...flags,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`200 from ${scheduler.url}/webhooks/github/github`);
  expect(stdout).toMatch(
    /receipt \S+: no agent was started; agent listener: actions does not include opened/,
  );
});
