import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { signDelivery } from "../../../src/features/webhooks/sign.ts";
import { forAll, LiveProject } from "../../helpers/live-project.ts";
import { bytes } from "../../features/webhooks/deliveries.ts";
import { secretOf, webhookProject } from "../../features/webhooks/webhook-project.ts";
import { dueAt, putAgent } from "../files/live.ts";
import { isLong } from "../../helpers/long.ts";

let project: LiveProject;

/** Notes each start; a poisonous delivery then kills the program that runs the agent. */
const hook = (): string =>
  `grep -o '"n": *[0-9]*' "$AL_PAYLOAD_FILE" >> ${startedFile()}; ` +
  `grep -q poison "$AL_PAYLOAD_FILE" && kill -9 $PPID; al-exit`;

forAll(async () => {
  project = new LiveProject(await webhookProject());
  const hooks = `scale = 1\nhooks.pre = [${JSON.stringify(hook())}]\n`;
  const filter = '[[webhooks]]\nsource = "github"\nevents = ["issues"]\n';
  await putAgent(project, "taker", dueAt(1, `${hooks}${filter}`));
  await project.start();
});

const startedFile = (): string => project.path("started.txt");

async function deliver(body: Buffer, id: string): Promise<{ status: number; text: string }> {
  const headers = signDelivery("github", secretOf("github"), body, Date.now(), {
    event: "issues",
    id,
  });
  const url = `${project.scheduler.url}/webhooks/github`;
  const answer = await fetch(url, { method: "POST", headers, body: new Uint8Array(body) });
  return { status: answer.status, text: await answer.text() };
}

const issue = (n: number, title: string): Buffer =>
  bytes({ action: "opened", n, issue: { number: n, title }, repository: { full_name: "a/b" } });

const history = () => project.history("agent=taker&limit=200");

async function untilIdle(): Promise<void> {
  await expect
    .poll(() => project.agent("taker"), { timeout: 30_000 })
    .toMatchObject({ running: 0, queued: 0 });
}

test("a delivery that kills every run it starts is not retried for ever, and later deliveries run", async () => {
  for (const [n, title] of ["fine", "poison", "fine"].entries()) {
    expect((await deliver(issue(n, title), `p-${n}`)).status).toBe(200);
  }
  // Between two runs the agent looks idle for a moment.
  const succeeded = async () =>
    (await history()).filter(({ outcome }) => outcome === "succeeded").length;
  await expect.poll(succeeded, { timeout: 30_000 }).toBe(2);
  await untilIdle();
  expect((await history()).length).toBeLessThanOrEqual(4);
  const started = (await readFile(startedFile(), "utf8")).match(/\d+/g) ?? [];
  expect(started.filter((n) => n === "1").length).toBeLessThanOrEqual(2);
  expect(started.filter((n) => n !== "1")).toEqual(["0", "2"]);
  const [last] = await history();
  expect(last?.outcome).toBe("succeeded");
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
    const shown = await project.scheduler.api(`/api/stats/webhooks/${receiptId}`);
    expect(shown.status).toBe(200);
    const again = await project.post(`/api/webhooks/${receiptId}/replay`);
    expect(again.status).toBe(200);
    await untilIdle();
    await expect.poll(latest).toMatchObject({ receiptId, outcome: "succeeded" });
    expect((await history()).filter((one) => one.receiptId === receiptId)).toHaveLength(2);
  },
);
