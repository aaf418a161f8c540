import { readFile } from "node:fs/promises";
import { signDelivery } from "../../../../src/features/webhooks/sign.ts";
import { startTestScheduler } from "../../../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../../../helpers/scheduler.ts";
import { bytes, githubExample } from "../../../features/webhooks/deliveries.ts";
import { sendLoad } from "../../../features/webhooks/load.ts";
import { secretOf, webhookProject } from "../../../features/webhooks/webhook-project.ts";
import { exchange, statusesIn } from "../raw-http.ts";
import { withStrangers } from "./with-strangers.ts";

let project: TestProject;
let scheduler: TestScheduler;
beforeAll(async () => {
  project = await webhookProject();
  scheduler = await startTestScheduler(project);
});
afterAll(async () => {
  await scheduler.stop();
  await project.remove();
});

test("a connection is closed when it sends requests ahead of their answers", async () => {
  const text = await exchange(scheduler.url, "GET /login HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100));
  expect(statusesIn(text).length).toBeLessThanOrEqual(2);
});

test("1,000 strangers that pipeline and never read leave memory bounded and block no delivery", async () => {
  const body = bytes(githubExample("issues", "opened"));
  const headers = signDelivery("github", secretOf("github"), body, Date.now(), { event: "issues" });
  const deliveries = Array.from({ length: 200 }, () => ({
    path: "/webhooks/github",
    headers,
    body,
  }));
  const { port } = new URL(scheduler.url);
  const { result, closed } = await withStrangers(port, 1_000, () =>
    sendLoad(scheduler.url, deliveries, 4),
  );
  expect(result.map(({ status }) => status)).toEqual(deliveries.map(() => 200));
  expect(closed).toBeGreaterThan(200);
  const status = await readFile(`/proc/${scheduler.pid}/status`, "utf8");
  expect(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024).toBeLessThan(400);
}, 120_000);
