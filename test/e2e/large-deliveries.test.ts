import { readFile } from "node:fs/promises";
import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { rawConnection, statusesIn, type RawConnection } from "../faults/doors/raw-http.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import type { TestScheduler } from "../helpers/scheduler.ts";
import { bytes, githubExample } from "../features/webhooks/deliveries.ts";
import { sendLoad, type LoadRequest } from "../features/webhooks/load.ts";
import { secretOf, webhookProject, writeAgent } from "../features/webhooks/webhook-project.ts";

const mebibyte = 1024 * 1024;
let project: LiveProject;
let scheduler: TestScheduler;

beforeEach(async () => {
  project = new LiveProject(await webhookProject());
  const copy = `cp "$AL_PAYLOAD_FILE" '${project.path("received")}'`;
  const where = '{ "issue.number" = 1, "events.0.action" = "opened" }';
  const webhooks = `[[webhooks]]\nsource = "github"\nwhere = ${where}\n`;
  await writeAgent(project, "dev", `${webhooks}[hooks]\npre = [${JSON.stringify(copy)}]\n`);
  scheduler = await project.start();
});

/** An issue's event with as many more in it as make it so large. */
function eventOf(size: number): Buffer {
  const event = githubExample("issues", "opened");
  const count = Math.ceil(size / bytes(event).length);
  return bytes({ ...event, events: Array.from({ length: count }, () => event) });
}

function signed(body: Buffer, event = "issues"): LoadRequest {
  const headers = signDelivery("github", secretOf("github"), body, Date.now(), { event });
  return { path: "/webhooks/github", headers, body };
}

/** What became of the agent's work so far. */
const outcomes = async () => (await project.history("agent=dev")).map(({ outcome }) => outcome);

test("a delivery of 20 MB is accepted, run, shown and replayed", async () => {
  const body = eventOf(20_000_000);
  const [answer] = await sendLoad(scheduler.url, [signed(body)], 1);
  expect(answer?.status).toBe(200);
  expect(answer?.ms).toBeLessThan(10_000);
  const { receiptId, matched } = JSON.parse(answer?.text ?? "") as Record<string, unknown>;
  expect(matched).toEqual([{ agent: "dev" }]);
  await expect.poll(outcomes, slowly).toEqual(["succeeded"]);
  const received = JSON.parse(await project.read("received")) as unknown;
  expect(received).toEqual(JSON.parse(body.toString("utf8")));

  const view = await scheduler.api(`/api/stats/webhooks/${String(receiptId)}`);
  const shown = await view.text();
  expect(shown.length).toBeLessThan(3 * mebibyte);
  expect(JSON.parse(shown)).toMatchObject({ bytes: body.length, payload: { action: "opened" } });
  const replayed = await project.post(`/api/webhooks/${String(receiptId)}/replay`);
  expect(await replayed.json()).toMatchObject({ matched: [{ agent: "dev" }] });
  await expect.poll(outcomes, slowly).toEqual(["succeeded", "succeeded"]);
}, 120_000);

/** The most memory that the scheduler had so far, in bytes. */
async function peakMemory(): Promise<number> {
  const status = await readFile(`/proc/${scheduler.pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** An unverified sender of a large body that never ends. */
function flood(size: number): RawConnection {
  const connection = rawConnection(scheduler.url);
  const head = `POST /webhooks/github HTTP/1.1\r\nHost: a\r\nX-GitHub-Event: push\r\nContent-Length: ${25 * mebibyte}\r\n\r\n`;
  connection.write(head);
  const chunk = Buffer.alloc(mebibyte / 2, "x");
  for (let sent = 0; sent < size; sent += chunk.length) connection.write(chunk);
  return connection;
}

test("200 senders of large bodies without a signature leave memory bounded, and deliveries arrive", async () => {
  const before = await peakMemory();
  const senders = Array.from({ length: 200 }, () => flood(6 * mebibyte));
  const small = Array.from({ length: 20 }, () => signed(bytes(githubExample("issues", "opened"))));
  const amid = await sendLoad(scheduler.url, small, 4);
  expect(amid.map(({ status }) => status)).toEqual(amid.map(() => 200));
  // The last ones stay: there is room for them.
  const isRefused = ({ said, socket }: RawConnection) =>
    socket.destroyed || statusesIn(said()).includes(503);
  await expect.poll(() => senders.filter(isRefused).length, slowly).toBeGreaterThan(180);
  const [large] = await sendLoad(scheduler.url, [signed(eventOf(10_000_000))], 1);
  expect(large?.status).toBe(200);
  expect((await peakMemory()) - before).toBeLessThan(400 * mebibyte);
  expect(scheduler.output()).toContain("refused a body: unverified requests hold");
}, 120_000);
