import { readFile, writeFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HistoryEntry, HistoryPage } from "../../src/foundation/contracts/history.ts";
import { commandAgents, startAgents } from "../helpers/command-agents.ts";
import { startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const names = Array.from({ length: 8 }, (_, n) => `agent-${n}`);

let project: TestProject;
let scheduler: TestScheduler;

beforeEach(async () => {
  project = await commandAgents((dir) =>
    Object.fromEntries(names.map((name) => [name, `nice > '${join(dir, name)}.nice'`])),
  );
  await setStarting(2);
  scheduler = await startTestScheduler(project);
});
afterEach(async () => {
  await scheduler.kill();
  await project.remove();
});

async function setStarting(starting: number): Promise<void> {
  const file = join(project.dir, "config.toml");
  const text = (await readFile(file, "utf8")).replace(/\[local\][^[]*/, "");
  await writeFile(file, `${text}\n[local]\nstarting = ${starting}\n`);
}

/** Starts all agents at once; their runs once all of them succeeded. */
async function runAll(): Promise<readonly HistoryEntry[]> {
  const before = (await history()).length;
  expect(new Set(await startAgents(scheduler, ...names))).toEqual(new Set([202]));
  const succeeded = async () => (await history()).filter(({ outcome }) => outcome === "succeeded");
  await expect
    .poll(async () => (await succeeded()).length, { timeout: 60_000 })
    .toBe(before + names.length);
  return (await history()).slice(0, names.length);
}

async function history(): Promise<readonly HistoryEntry[]> {
  const answer = await scheduler.api("/api/stats/triggers");
  return ((await answer.json()) as HistoryPage).triggers;
}

/** How many of the runs were starting at once at most, by what their own logs say of when. */
async function mostAtOnce(runs: readonly HistoryEntry[]): Promise<number> {
  const starts = await Promise.all(runs.map(({ instanceId }) => startOf(instanceId ?? "")));
  return Math.max(
    ...starts.map(({ from }) => starts.filter((one) => one.from <= from && from < one.to).length),
  );
}

/** From when its process was started until it is ready, epoch ms. */
async function startOf(instanceId: string): Promise<{ from: number; to: number }> {
  const log = await readFile(`/tmp/al-runs/${instanceId}.log`, "utf8");
  const timeOf = (line: RegExp): number => Date.parse(line.exec(log)?.[1] ?? "");
  return { from: timeOf(/^(\S+) run /m), to: timeOf(/^(\S+) out \{"type":"ready"\}/m) };
}

test("of runs that are started at once only so many start together, and a change of the limit counts at once", async () => {
  expect(await mostAtOnce(await runAll())).toBe(2);
  await setStarting(1);
  await scheduler.waitForOutput(/local\.starting/);
  expect(await mostAtOnce(await runAll())).toBe(1);
}, 120_000);

test("runs have a lower priority than their scheduler", async () => {
  await runAll();
  const niceness = await readFile(join(project.dir, "agent-0.nice"), "utf8");
  expect(Number(niceness)).toBeGreaterThan(getPriority(scheduler.pid));
}, 60_000);
