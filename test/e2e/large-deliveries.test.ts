import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { bytes, githubExample } from "../features/webhooks/deliveries.ts";
import { sendLoad } from "../features/webhooks/load.ts";
import { secretOf, webhookProject, writeAgent } from "../features/webhooks/webhook-project.ts";

test("a webhook delivery of 20 MB is accepted, run, shown and replayed", async () => {
  const project = new LiveProject(await webhookProject());
  const copy = `cp "$AL_PAYLOAD_FILE" '${project.path("received")}'`;
  const where = '{ "issue.number" = 1, "events.0.action" = "opened" }';
  const webhooks = `[[webhooks]]\nsource = "github"\nwhere = ${where}\n`;
  await writeAgent(project, "dev", `${webhooks}[hooks]\npre = [${JSON.stringify(copy)}]\n`);
  const { url, api } = await project.start();
  /** An issue's event with as many more in it as make it so large. */
  const event = githubExample("issues", "opened");
  const count = Math.ceil(20_000_000 / bytes(event).length);
  const body = bytes({ ...event, events: Array.from({ length: count }, () => event) });
  const options = { event: "issues" };
  const headers = signDelivery("github", secretOf("github"), body, Date.now(), options);
  const [answer] = await sendLoad(url, [{ path: "/webhooks/github", headers, body }], 1);
  expect(answer?.ms).toBeLessThan(10_000);
  const { receiptId = "", matched } = JSON.parse(answer?.text ?? "") as {
    readonly receiptId?: string;
    readonly matched: unknown;
  };
  expect([answer?.status, matched]).toEqual([200, [{ agent: "dev" }]]);
  const outcomes = async () => (await project.history("agent=dev")).map(({ outcome }) => outcome);
  await expect.poll(outcomes, slowly).toEqual(["succeeded"]);
  const received = JSON.parse(await project.read("received")) as unknown;
  expect(received).toEqual(JSON.parse(body.toString("utf8")));

  const shown = await (await api(`/api/stats/webhooks/${receiptId}`)).text();
  expect(shown.length).toBeLessThan(3 * 1024 * 1024);
  expect(JSON.parse(shown)).toMatchObject({ bytes: body.length, payload: { action: "opened" } });
  const replayed = await project.post(`/api/webhooks/${receiptId}/replay`);
  expect(await replayed.json()).toMatchObject({ matched: [{ agent: "dev" }] });
  await expect.poll(outcomes, slowly).toEqual(["succeeded", "succeeded"]);
}, 120_000);
