import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HistoryEntry, HistoryPage } from "../../../src/foundation/contracts/history.ts";
import { signDelivery } from "../../../src/features/webhooks/sign.ts";
import { startTestScheduler } from "../../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { bytes } from "../../features/webhooks/deliveries.ts";
import { secretOf, webhookProject } from "../../features/webhooks/webhook-project.ts";
import { dueAt, looksAt, putAgent } from "../files/live.ts";
import { isLong } from "../../helpers/long.ts";

let project: TestProject;
let scheduler: TestScheduler;

/** Notes each start; a poisonous delivery then kills the program that runs the agent. */
const hook = (): string =>
  `grep -o '"n": *[0-9]*' "$AL_PAYLOAD_FILE" >> ${startedFile()}; ` +
  `grep -q poison "$AL_PAYLOAD_FILE" && kill -9 $PPID; al-exit`;

beforeAll(async () => {
  project = await webhookProject();
  const hooks = `scale = 1\nhooks.pre = [${JSON.stringify(hook())}]\n`;
  const filter = '[[webhooks]]\nsource = "github"\nevents = ["issues"]\n';
  await putAgent(project, "taker", dueAt(1, `${hooks}${filter}`));
  scheduler = await startTestScheduler(project);
});

afterAll(async () => {
  await scheduler.stop();
  await project.remove();
});

const startedFile = (): string => join(project.dir, "started.txt");

async function deliver(body: Buffer, id: string): Promise<{ status: number; text: string }> {
  const headers = signDelivery("github", secretOf("github"), body, Date.now(), {
    event: "issues",
    id,
  });
  const url = `${scheduler.url}/webhooks/github`;
  const answer = await fetch(url, { method: "POST", headers, body: new Uint8Array(body) });
  return { status: answer.status, text: await answer.text() };
}

const issue = (n: number, title: string): Buffer =>
  bytes({ action: "opened", n, issue: { number: n, title }, repository: { full_name: "a/b" } });

async function history(): Promise<readonly HistoryEntry[]> {
  const answer = await scheduler.api("/api/stats/triggers?agent=taker&limit=200");
  return ((await answer.json()) as HistoryPage).triggers;
}

async function untilIdle(): Promise<void> {
  await expect
    .poll(() => looksAt(scheduler).agent("taker"), { timeout: 30_000 })
    .toMatchObject({ running: 0, queued: 0 });
}

test("a delivery that kills every run it starts is not retried for ever, and later deliveries run", async () => {
  for (const [n, title] of ["fine", "poison", "fine"].entries()) {
    expect((await deliver(issue(n, title), `p-${n}`)).status).toBe(200);
  }
  await untilIdle();
  const outcomes = (await history()).map(({ outcome, attempt }) => `${outcome ?? ""} ${attempt}`);
  expect(outcomes.filter((one) => one.startsWith("succeeded"))).toHaveLength(2);
  expect(outcomes.length).toBeLessThanOrEqual(4);
  const started = (await readFile(startedFile(), "utf8")).match(/\d+/g) ?? [];
  expect(started.filter((n) => n === "1").length).toBeLessThanOrEqual(2);
  expect(started.filter((n) => n !== "1")).toEqual(["0", "2"]);
  const [last] = await history();
  expect(last?.outcome).toBe("succeeded");
  process.stdout.write(`${outcomes.join(", ")}\n`);
});

/** A body with this in it, and arrays so deep that recursion ends in it. */
const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const wrapped = (value: string): Buffer =>
  Buffer.from(
    `{"action":"opened","n":9,"repository":{"full_name":"a/b"},"issue":{"number":9,"title":"deep"},"more":${value}}`,
  );
const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const manyKeys = (count: number): string =>
  `{${Array.from({ length: count }, (_, n) => `"k${n}":${n}`).join(",")}}`;

const bodies = [
  ["400,000 arrays deep", nested(400_000)],
  ["150,000 objects deep", objects(150_000)],
  ["70,000 keys wide", manyKeys(70_000)],
  ["one string of a megabyte", `"${"x".repeat(1_000_000)}"`],
  ["a number of 900,000 digits", "9".repeat(900_000)],
  ["keys that name prototypes", '{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}'],
] as const;
const isShort = ([name]: (typeof bodies)[number]) => /deep|prototypes/.test(name);

test.each(bodies.filter((body) => isLong || isShort(body)))(
  "a signed body with %s is stored, run, shown and can be replayed",
  async (...of) => {
    const [name, value] = of;
    const began = performance.now();
    const { status, text } = await deliver(wrapped(value), `deep-${name}`);
    expect([status, text.slice(0, 200)]).toEqual([200, expect.stringContaining("taker")]);
    expect(performance.now() - began).toBeLessThan(3_000);
    const { receiptId } = JSON.parse(text) as { receiptId: string };
    const latest = async () => (await history())[0];
    await expect
      .poll(latest, { timeout: 20_000 })
      .toMatchObject({ receiptId, outcome: "succeeded" });
    const shown = await scheduler.api(`/api/stats/webhooks/${receiptId}`);
    expect(shown.status).toBe(200);
    const again = await scheduler.api(`/api/webhooks/${receiptId}/replay`, { method: "POST" });
    expect(again.status).toBe(200);
    await untilIdle();
    await expect.poll(latest).toMatchObject({ receiptId, outcome: "succeeded" });
    expect((await history()).filter((one) => one.receiptId === receiptId)).toHaveLength(2);
  },
);
