import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { agentName, benchProject } from "../../bench/bench-project.ts";
import { openSse } from "../../bench/sse-client.ts";
import type { SseClient } from "../../bench/sse-client.ts";
import { residentMb } from "../../bench/with-scheduler.ts";
import { startTestScheduler } from "../../helpers/scheduler.ts";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { appendLine } from "../files/live.ts";

const readers = 900;
const deaf = 100;
const agent = agentName(3);
const statusStream = "/dashboard/api/status-stream";
const logStream = `/dashboard/api/logs/${agent}/stream`;

async function started(): Promise<TestScheduler> {
  const project = await benchProject({ count: 100, config: () => 'schedule = "0 3 1 1 *"' });
  onTestFinished(() => project.remove());
  const scheduler = await startTestScheduler(project, { args: ["--headless"] });
  onTestFinished(async () => {
    await scheduler.stop();
  });
  return scheduler;
}

async function reading(scheduler: TestScheduler, path: string, count: number) {
  const clients: SseClient[] = [];
  for (let n = 0; n < count; n += 50) {
    const some = Array.from({ length: Math.min(50, count - n) }, () => openSse(scheduler, path));
    clients.push(...(await Promise.all(some)));
  }
  onTestFinished(() => {
    for (const client of clients) client.close();
  });
  return clients;
}

/** Clients that ask for a stream, take its beginning and never read again: who takes nothing is dropped anyway. */
function neverReading({ url, apiKey }: TestScheduler, path: string, count: number): void {
  const { port } = new URL(url);
  for (let n = 0; n < count; n++) {
    const socket = connect(Number(port), "127.0.0.1");
    socket.once("data", () => socket.pause());
    socket.on("error", () => undefined);
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${apiKey}\r\n\r\n`,
    );
    onTestFinished(() => void socket.destroy());
  }
}

async function clientsOf({ api }: TestScheduler, stream: string): Promise<number> {
  const text = await (await api("/metrics")).text();
  const pattern = new RegExp(`^almanac_stream_clients\\{stream="${stream}"\\} (\\d+)$`, "m");
  return Number(pattern.exec(text)?.[1]);
}

test("of 1,000 clients a hundred never read: they are dropped, memory is bounded, the others miss nothing", async () => {
  const scheduler = await started();
  const statusReaders = await reading(scheduler, statusStream, readers - 10);
  const logReaders = await reading(scheduler, logStream, 10);
  neverReading(scheduler, statusStream, deaf / 2);
  neverReading(scheduler, logStream, deaf / 2);
  await expect.poll(() => clientsOf(scheduler, "status")).toBe(readers - 10 + deaf / 2);
  await expect.poll(() => clientsOf(scheduler, "logs")).toBe(10 + deaf / 2);

  const before = await residentMb(scheduler.pid);
  let most = before;
  const lines = 400;
  const filler = "x".repeat(30_000);
  for (let round = 0; round < 10; round++) {
    const enabled = round % 2 === 1;
    const known = statusReaders.map((one) => one.waitFor(agent, `"enabled":${enabled}`));
    const told = logReaders.map((one) => one.waitFor(`line ${(round + 1) * (lines / 10)} `));
    const path = `/control/agents/${agent}/${enabled ? "enable" : "disable"}`;
    await scheduler.api(path, { method: "POST" });
    for (let n = 1; n <= lines / 10; n++) {
      await appendLine(scheduler.project, agent, `line ${round * (lines / 10) + n} ${filler}`);
    }
    // No reader misses a change or a line, however many don't read.
    await Promise.all([...known, ...told]);
    await wait(150);
    most = Math.max(most, await residentMb(scheduler.pid));
  }
  // 12 MB were meant for each that follows the log; the system's own buffers take a part of it.
  await expect.poll(() => clientsOf(scheduler, "logs"), { timeout: 20_000 }).toBe(10);
  expect(scheduler.output().match(/it does not read/g)).toHaveLength(deaf / 2);
  expect(await clientsOf(scheduler, "status")).toBeGreaterThanOrEqual(readers - 10);
  process.stdout.write(`resident: ${before.toFixed(0)} MB, at most ${most.toFixed(0)} MB\n`);
  // Kept for all who never read it would be 600 MB; most of this is garbage that nobody has collected yet.
  expect(most - before).toBeLessThan(450);
}, 120_000);
