import { appendFile, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { forAll, LiveProject } from "../../helpers/live-project.ts";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import { appendLine, dueAt, logPath, putAgent } from "./live.ts";

let project: LiveProject;

forAll(async () => {
  project = new LiveProject(await webhookProject());
  await putAgent(project, "dev", dueAt(1, 'hooks.pre = ["al-exit"]\n'));
  await project.start();
});

/** The messages that a follower of the agent's log gets, in order. */
async function following(lines = 1): Promise<() => readonly string[]> {
  const messages: string[] = [];
  const { url, apiKey } = project.scheduler;
  const address = `${url.replace("localhost", "127.0.0.1")}/dashboard/api/logs/dev/stream`;
  const headers = { authorization: `Bearer ${apiKey}` };
  await new Promise<void>((resolve, reject) => {
    const request = get(`${address}?lines=${lines}`, { headers, agent: false }, (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          if (line.startsWith("data: ")) messages.push(msgOf(line.slice(6)));
        }
        resolve();
      });
      response.on("error", () => undefined);
    });
    request.on("error", reject);
    onTestFinished(() => void request.destroy());
  });
  return () => messages;
}

const msgOf = (json: string): string => (JSON.parse(json) as { msg: string }).msg;

/** Runs the agent to its end; what the log says of it. */
async function runOnce(): Promise<void> {
  const before = (await project.agent("dev"))?.lastRunAt ?? null;
  await project.trigger("dev");
  await expect
    .poll(() => project.agent("dev"), { timeout: 20_000 })
    .toMatchObject({
      state: "idle",
      lastRunAt: expect.not.stringMatching(`^${before}$`) as string,
    });
}

const path = (): string => logPath(project, "dev");

async function written(file: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").slice(0, -1).map(msgOf);
}

test("a follower of a log that is rotated, deleted or truncated gets every line once", async () => {
  await runOnce();
  const seen = await following();
  for (const disturb of [
    () => rename(path(), `${path()}.1`),
    () => rm(path()),
    () => truncate(path(), 0),
  ]) {
    const last = (await written(path())).at(-1);
    await expect.poll(() => seen().at(-1)).toBe(last);
    const before = seen().length;
    await disturb();
    // Writer and follower look once a second whether their file is still the same; a busy machine is late.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await runOnce();
    const sameAsFile = async (): Promise<boolean> =>
      isDeepStrictEqual(seen().slice(before), await written(path()));
    await expect.poll(sameAsFile).toBe(true);
    expect(seen().length - before).toBeGreaterThan(3);
  }
});

test("a log line of 50 MB is skipped in little memory, and later lines are shown", async () => {
  await writeFile(path(), "");
  await appendLine(project, "dev", "before");
  const seen = await following();
  await expect.poll(() => seen()).toContain("before");
  const before = await peakMb();
  const piece = "x".repeat(1_000_000);
  for (let n = 0; n < 50; n++) await appendFile(path(), piece);
  await appendFile(path(), "\n");
  await appendLine(project, "dev", "after");
  await expect.poll(() => seen().slice(-2), { timeout: 20_000 }).toEqual(["before", "after"]);
  // Read backwards, too.
  const again = await following(2);
  await expect.poll(() => again()).toEqual(["before", "after"]);
  expect((await peakMb()) - before).toBeLessThan(120);
});

/** The most that the scheduler ever had in memory. */
async function peakMb(): Promise<number> {
  const status = await readFile(`/proc/${project.scheduler.pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
