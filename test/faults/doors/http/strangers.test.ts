import { readFile } from "node:fs/promises";
import { signDelivery } from "../../../../src/features/webhooks/sign.ts";
import { forAll, LiveProject } from "../../../helpers/live-project.ts";
import { bytes, githubExample } from "../../../features/webhooks/deliveries.ts";
import { sendLoad } from "../../../features/webhooks/load.ts";
import { secretOf, webhookProject } from "../../../features/webhooks/webhook-project.ts";
import { exchange, statusesIn } from "../raw-http.ts";
import { withStrangers } from "./with-strangers.ts";

let project: LiveProject;
forAll(async () => {
  project = new LiveProject(await webhookProject());
  await project.start();
});

test("a connection that sends requests ahead of their answers is closed", async () => {
  const requests = "GET /login HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100);
  const text = await exchange(project.scheduler.url, requests);
  expect(statusesIn(text).length).toBeLessThanOrEqual(2);
});

test("1,000 clients without a key that pipeline requests and never read use bounded memory and block no webhook delivery", async () => {
  const { url, pid } = project.scheduler;
  const body = bytes(githubExample("issues", "opened"));
  const headers = signDelivery("github", secretOf("github"), body, Date.now(), { event: "issues" });
  const delivery = { path: "/webhooks/github", headers, body };
  const deliveries = Array.from({ length: 200 }, () => delivery);
  const { result, closed } = await withStrangers(new URL(url).port, 1_000, () =>
    sendLoad(url, deliveries, 4),
  );
  expect(result.map(({ status }) => status)).toEqual(deliveries.map(() => 200));
  expect(closed).toBeGreaterThan(200);
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  expect(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024).toBeLessThan(400);
}, 120_000);
