import { execFileSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { openSse } from "../../bench/sse-client.ts";
import { forAll, LiveProject } from "../../helpers/live-project.ts";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import { agentDir, dueAt, putAgent } from "./live.ts";
import { isLong } from "../../helpers/long.ts";

const count = isLong ? 500 : 60;
const moved = 30;
const nameOf = (n: number): string => `a${String(n).padStart(3, "0")}`;

let project: LiveProject;

function git(...args: readonly string[]): void {
  const who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"];
  execFileSync("git", [...who, ...args], { cwd: project.dir, stdio: "pipe" });
}

function commitAs(branch: string): void {
  git("checkout", "-q", "-b", branch);
  git("add", "-A", "agents");
  git("commit", "-q", "-m", branch);
}

/** All agents on `one`; on `two` each is due at another minute, and some have other names. */
forAll(async () => {
  project = new LiveProject(await webhookProject());
  git("init", "-q");
  await fill(0, count, 11);
  commitAs("one");
  for (let n = 0; n < moved; n++) await rm(agentDir(project, nameOf(n)), { recursive: true });
  await fill(moved, count + moved, 12);
  commitAs("two");
  git("checkout", "-q", "one");
  await project.start();
});

async function fill(from: number, to: number, minute: number): Promise<void> {
  for (let n = from; n < to; n++) await putAgent(project, nameOf(n), dueAt(minute));
}

async function minutes(): Promise<Readonly<Record<string, string | undefined>>> {
  const { agents } = await project.status();
  return Object.fromEntries(agents.map(({ name, nextRunAt }) => [name, nextRunAt?.slice(14, 16)]));
}

const expected = (from: number, to: number, minute: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: to - from }, (_, n) => [nameOf(from + n), minute]));

test(`a checkout that changes ${count} agents at once takes effect as a whole`, async () => {
  await expect.poll(minutes).toEqual(expected(0, count, "11"));
  const client = await openSse(project.scheduler, "/dashboard/api/status-stream");
  for (const [branch, from, minute] of [
    ["two", moved, "12"],
    ["one", 0, "11"],
  ] as const) {
    const began = performance.now();
    git("checkout", "-q", branch);
    await expect
      .poll(minutes, { timeout: 20_000, interval: 200 })
      .toEqual(expected(from, from + count, minute));
    process.stdout.write(`${branch}: in force in ${(performance.now() - began).toFixed(0)} ms\n`);
    const { agents } = await project.status();
    expect(agents.filter(({ error }) => error !== null)).toEqual([]);
  }
  client.close();
});
