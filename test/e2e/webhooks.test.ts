import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { bytes } from "../features/webhooks/deliveries.ts";
import { sendLoad } from "../features/webhooks/load.ts";
import { storeSecret, webhookProject } from "../features/webhooks/webhook-project.ts";
import { LiveProject } from "../helpers/live-project.ts";

test("a webhook source's new secret is active once saved, also beside the old one, and is not logged", async () => {
  const project = new LiveProject(await webhookProject());
  await project.start();
  const body = bytes({ action: "created" });
  const status = async (secret: string) => {
    const headers = signDelivery("sentry", secret, body, Date.now(), { event: "issue" });
    const request = { path: "/webhooks/sentry/sentry", headers, body };
    return (await sendLoad(project.scheduler.url, [request], 1))[0]?.status;
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
