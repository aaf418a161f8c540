import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { bytes, githubExample } from "../features/webhooks/deliveries.ts";
import { sendLoad } from "../features/webhooks/load.ts";
import {
  secretOf,
  storeSecret,
  webhookProject,
  writeAgent,
} from "../features/webhooks/webhook-project.ts";
import { forAll, LiveProject, slowly } from "../helpers/live-project.ts";

let project: LiveProject;
forAll(async () => {
  project = new LiveProject(await webhookProject());
  const copy = `cp "$AL_PAYLOAD_FILE" '${project.path("received")}'`;
  const where = '{ "issue.number" = 1, "events.0.action" = "opened" }';
  const webhooks = `[[webhooks]]\nsource = "github"\nwhere = ${where}\n`;
  await writeAgent(project, "dev", `${webhooks}[hooks]\npre = [${JSON.stringify(copy)}]\n`);
  await project.start();
});

/** The answer to a delivery that is signed by this secret. */
async function deliver(type: string, body: Buffer, secret: string, event: string) {
  const headers = signDelivery(type, secret, body, Date.now(), { event });
  const request = { path: `/webhooks/${type}/${type}`, headers, body };
  const [answer] = await sendLoad(project.scheduler.url, [request], 1);
  return answer;
}

test("a webhook delivery of 20 MB is accepted within 10 s, and its run gets the whole body", async () => {
  const event = githubExample("issues", "opened");
  const count = Math.ceil(20_000_000 / bytes(event).length);
  const body = bytes({ ...event, events: Array.from({ length: count }, () => event) });
  const answer = await deliver("github", body, secretOf("github"), "issues");
  expect(answer?.ms).toBeLessThan(10_000);
  expect([answer?.status, answer?.text]).toEqual([200, expect.stringContaining('"dev"')]);
  const outcomes = async () => (await project.history("agent=dev")).map(({ outcome }) => outcome);
  await expect.poll(outcomes, slowly).toEqual(["succeeded"]);
  const received = JSON.parse(await project.read("received")) as unknown;
  expect(received).toEqual(JSON.parse(body.toString("utf8")));
}, 120_000);

test("a webhook source's new secret is active once saved, also beside the old one, and is not logged", async () => {
  const body = bytes({ action: "created" });
  const status = async (secret: string) => (await deliver("sentry", body, secret, "issue"))?.status;
  expect([await status("hush-sentry"), await status("new")]).toEqual([200, 401]);
  await storeSecret(project, "sentry", "new", "next");
  await expect.poll(() => status("new")).toBe(200);
  expect(await status("hush-sentry")).toBe(200);
  await storeSecret(project, "sentry", "newest");
  await expect.poll(() => status("hush-sentry")).toBe(401);
  expect([await status("new"), await status("newest")]).toEqual([200, 200]);
  expect(project.scheduler.output()).not.toMatch(/hush-|newest/);
});
