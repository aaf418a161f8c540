import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { bytes } from "../features/webhooks/deliveries.ts";
import { sendLoad } from "../features/webhooks/load.ts";
import { storeSecret, webhookProject } from "../features/webhooks/webhook-project.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";

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

test("examples/any-webhook accepts a signed delivery once, and refuses a changed or old one", async () => {
  const project = await LiveProject.copy("examples/any-webhook");
  await project.start();
  const secret = "secret-of-the-example";
  await project.write("../home/credentials/generic_webhook_secret/deploys/secret", secret);
  const file = project.path("deploy-failed.json");
  expect(await project.print("webhook", "test", file)).toContain("generic deploy failed, acme/web");
  const setup = await project.print(
    "webhook",
    "setup",
    "generic",
    "--url",
    "https://al.example.org",
  );
  expect(setup).toContain("https://al.example.org/webhooks/generic/deploys");
  expect(await project.print("webhook", "send", file)).toContain("work for oncall");
  expect(await project.print("webhook", "send", file)).toContain("a duplicate");
  const body = (await readFile(file, "utf8")).replace("deploy-7", "deploy-8");
  const deliver = async (ageMs: number, sent = body) => {
    const time = String(Math.floor((Date.now() - ageMs) / 1000));
    const hmac = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
    const headers = { "x-deploy-time": time, "x-deploy-signature": `sha256=${hmac}` };
    const url = `${project.scheduler.url}/webhooks/generic/deploys`;
    const answer = await fetch(url, { method: "POST", headers, body: sent });
    return [answer.status, ((await answer.json()) as { error?: string }).error];
  };
  const refused = [401, "bad_signature"];
  expect(await deliver(0, body.replace("acme", "acmf"))).toEqual(refused);
  expect(await deliver(400_000)).toEqual(refused);
  expect(await deliver(0)).toEqual([200, undefined]);
  const ended = { agent: "oncall", event: "deploy", action: "failed", outcome: "succeeded" };
  await expect.poll(() => project.history(), slowly).toMatchObject([ended, ended]);
  expect(await project.print("logs", "oncall")).toContain("no space left on device");
});
