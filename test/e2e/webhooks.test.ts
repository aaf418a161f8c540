import { openStore } from "../../src/features/open-store.ts";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import { interpretStored } from "../../src/features/webhooks/interpret.ts";
import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { forAll, LiveProject } from "../helpers/live-project.ts";
import { bytes, githubExamples } from "../features/webhooks/deliveries.ts";
import { sendLoad, type LoadRequest } from "../features/webhooks/load.ts";
import { secretOf, storeSecret, webhookProject } from "../features/webhooks/webhook-project.ts";

let project: LiveProject;

/** Never started, so that nothing but the receiving is measured; what it misses is a dead letter each. */
const listener = '[[webhooks]]\nsource = "github"\nactions = ["never"]\n';

forAll(async () => {
  project = new LiveProject(await webhookProject({ listener }));
  await project.start();
});

/** A delivery that its provider's source believes. */
function signed(type: string, body: Buffer, secret: string, event: string, id?: string) {
  const options = id === undefined ? { event } : { event, id };
  const headers = signDelivery(type, secret, body, Date.now(), options);
  return { path: `/webhooks/${type}/${type}`, headers, body } satisfies LoadRequest;
}
const send = (requests: readonly LoadRequest[]) => sendLoad(project.scheduler.url, requests, 20);

test("each of GitHub's example webhooks gets 200, and is stored byte for byte and normalized", async () => {
  const all = githubExamples.flatMap(({ name, examples }) =>
    examples.map((payload) => ({ name, payload, body: bytes(payload) })),
  );
  const answers = await send(
    all.map(({ name, body }, n) =>
      signed("github", body, secretOf("github"), name, `example-${n}`),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
  // The store is read beside the scheduler that writes it.
  const store = openStore(project.dir);
  onTestFinished(() => store.close());
  for (const { index, text } of answers) {
    const { name, payload, body } = all[index] ?? { name: "", payload: {}, body: bytes("") };
    const { receiptId, pong } = JSON.parse(text) as { receiptId?: string; pong?: boolean };
    expect(pong ?? false).toBe(name === "ping");
    if (name === "ping") continue;
    const receipt = store.receipts.get(receiptId ?? "");
    expect(Buffer.from(receipt?.body ?? []).equals(body)).toBe(true);
    expect(receipt).toMatchObject({ source: "github", deliveryId: `example-${index}` });
    expect(receipt && interpretStored(receipt)?.event).toMatchObject({
      event: name,
      action: payload.action ?? null,
      receiptId,
    });
  }
  const dead = await project.json<HistoryPage>("/api/stats/triggers?deadLetter=true&limit=1");
  expect(dead.total).toBe(all.filter(({ name }) => name !== "ping").length);
});

test("a webhook source's new secret is active once saved, also beside the old one, and is not logged", async () => {
  const status = async (secret: string) => {
    const delivery = signed("sentry", bytes({ action: "created" }), secret, "issue");
    return (await send([delivery]))[0]?.status;
  };
  expect([await status("hush-sentry"), await status("new")]).toEqual([200, 401]);
  await storeSecret(project, "sentry", "new", "next");
  await expect.poll(() => status("new")).toBe(200);
  expect(await status("hush-sentry")).toBe(200);
  await storeSecret(project, "sentry", "newest");
  await expect.poll(() => status("hush-sentry")).toBe(401);
  expect([await status("new"), await status("newest")]).toEqual([200, 200]);
  expect(project.scheduler.output()).not.toMatch(/hush-|newest/);
});
