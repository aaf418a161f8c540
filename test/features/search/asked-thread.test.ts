import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";
import { askedThread } from "../../../src/features/search/asked-thread.ts";

const program = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", (request) => {
    if (request === "end") process.exit(0);
    if (request !== "wait") parentPort.postMessage(request);
  });`;

let workers: Worker[] = [];
const start = (): Promise<Worker> => {
  const worker = new Worker(program, { eval: true });
  workers.push(worker);
  return Promise.resolve(worker);
};
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.terminate()));
  workers = [];
});

test("requests share a thread, until it was idle for a while", async () => {
  const thread = askedThread<string, string>(start, 20);
  expect(await thread.ask("one")).toBe("one");
  expect(await thread.ask("two")).toBe("two");
  expect(workers).toHaveLength(1);
  await once(workers[0] as Worker, "exit");
  expect(await thread.ask("three")).toBe("three");
  expect(workers).toHaveLength(2);
});

test("a request that its thread does not survive is refused, and the next one has another thread", async () => {
  const thread = askedThread<string, string>(start, 60_000);
  await expect(thread.ask("end")).rejects.toThrow();
  expect(await thread.ask("one")).toBe("one");
  expect(workers).toHaveLength(2);
});

test("a thread that ended between two requests is replaced", async () => {
  const thread = askedThread<string, string>(start, 60_000);
  await thread.ask("one");
  await workers[0]?.terminate();
  expect(await thread.ask("two", AbortSignal.timeout(2_000))).toBe("two");
});

test("a thread that starts while all is closed ends", async () => {
  const thread = askedThread<string, string>(start, 60_000);
  const asked = thread.ask("wait");
  await thread.close();
  await expect(asked).rejects.toThrow("its thread ended");
  await expect(thread.ask("one")).rejects.toThrow("its thread ended");
  expect(workers.every(({ threadId }) => threadId === -1)).toBe(true);
});
