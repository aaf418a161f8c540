import { expect, onTestFinished, test } from "vitest";
import type { HistoryEntry } from "../../../src/foundation/contracts/history.ts";
import { fakeProvider } from "../../runtime/harness/fake-provider.ts";
import type { FakeProvider } from "../../runtime/harness/fake-provider.ts";
import { LiveProject } from "../../helpers/live-project.ts";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import { dueAt, putAgent } from "../files/live.ts";

let project: LiveProject;

const anHour = "3600";

/** Says for an hour that it was asked too often. */
const limited: Parameters<typeof fakeProvider>[0] = (_request, response) => {
  response.writeHead(429, { "content-type": "application/json", "retry-after": anHour });
  response.end(JSON.stringify({ error: { message: "Rate limit reached", type: "rate_limit" } }));
};

/** Takes the question and never answers. */
const silent: Parameters<typeof fakeProvider>[0] = () => undefined;

async function start(answer: Parameters<typeof fakeProvider>[0]): Promise<FakeProvider> {
  const provider = await fakeProvider(answer);
  onTestFinished(() => provider.close());
  project = new LiveProject(await webhookProject());
  await project.append(
    "config.toml",
    `[models.troubled]
provider = "custom"
model = "x"
baseUrl = "${provider.baseUrl}"
authType = "none"
# Longer than the runs: their own timeout ends them.
timeout = 60
`,
  );
  const models = (list: string): string => dueAt(1).replace('["scripted"]', list);
  const own = "timeout = 3\nscale = 2\n[runtime]";
  await putAgent(project, "lonely", models('["troubled"]').replace("[runtime]", own));
  await putAgent(project, "prudent", models('["troubled", "scripted"]').replace("[runtime]", own));
  await project.start();
  return provider;
}

/** Triggers runs one after the other and gives what became of each, oldest first. */
async function runs(agent: string, count: number): Promise<readonly HistoryEntry[]> {
  for (let n = 1; n <= count; n++) {
    await project.trigger(agent);
    await expect.poll(async () => (await ended(agent)).length, { timeout: 20_000 }).toBe(n);
  }
  return ended(agent);
}

async function ended(agent: string): Promise<readonly HistoryEntry[]> {
  const all = await project.history(`agent=${agent}`);
  return all.filter(({ endedAt }) => endedAt !== null).toReversed();
}

test("a provider that answers 429 for an hour fails runs without a fallback, and is not asked again meanwhile", async () => {
  const provider = await start(limited);
  const [alone] = await runs("lonely", 1);
  expect(alone).toMatchObject({ outcome: "failed" });
  expect(alone?.reason).toMatch(/429|rate limit/i);
  expect(alone?.durationMs).toBeLessThan(3_000);
  const asked = provider.requests.length;
  expect(asked).toBeLessThanOrEqual(2);
  // The others know: they begin with the one that may be asked.
  const prudent = await runs("prudent", 2);
  expect(prudent.map(({ outcome, model }) => [outcome, model])).toEqual(
    Array.from({ length: 2 }, () => ["succeeded", "scripted"]),
  );
  expect(provider.requests.length).toBe(asked);
});

test("runs of a provider that never answers time out, and other requests do not wait", async () => {
  await start(silent);
  await project.trigger("lonely", "lonely", "lonely");
  await expect.poll(() => project.agent("lonely")).toMatchObject({ running: 2 });
  const slowest = await slowestAnswer();
  expect(slowest).toBeLessThan(1_000);
  await expect.poll(async () => (await ended("lonely")).length, { timeout: 28_000 }).toBe(3);
  expect((await ended("lonely")).map(({ outcome, exitCode }) => [outcome, exitCode])).toEqual(
    Array.from({ length: 3 }, () => ["timed_out", 124]),
  );
}, 60_000);

async function slowestAnswer(): Promise<number> {
  let slowest = 0;
  for (let n = 0; n < 20; n++) {
    const began = performance.now();
    await project.status();
    slowest = Math.max(slowest, performance.now() - began);
  }
  return slowest;
}
