import { once } from "node:events";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyProject, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler;

beforeEach(async () => {
  project = await copyProject("examples/hello");
});
afterEach(async () => {
  await scheduler.stop();
  await project.remove();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("a port that is edited before webhooks open TCP is the one that it is opened at", async () => {
  const config = join(project.dir, "config.toml");
  const text = await readFile(config, "utf8");
  const [before, after, later] = [await freePort(), await freePort(), await freePort()];
  const withPort = (port: number) =>
    writeFile(config, text.replace("port = 8080", `port = ${port}`));
  await withPort(before);
  scheduler = await startTestScheduler(project, { webUi: false, anyPort: false });
  await withPort(after);
  await scheduler.waitForOutput(new RegExp(`gateway\\.port ${before} → ${after}`));
  await appendFile(config, '\n[webhooks.hub]\ntype = "github"\nallowUnsigned = true\n');
  const url = `http://localhost:${after}`;
  await scheduler.waitForOutput(new RegExp(`the gateway listens at ${url}`));
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect(scheduler.output()).not.toContain("changes with the next start");

  await writeFile(config, (await readFile(config, "utf8")).replace(`${after}`, `${later}`));
  await scheduler.waitForOutput(/\[gateway\] changes with the next start/);
  expect((await fetch(`${url}/health`)).status).toBe(200);
});
