import { copyFile, cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentStatus, StatusSnapshot } from "../../streams/status/wire.ts";
import { copyProject, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler;

beforeAll(async () => {
  project = await copyProject("examples/hello");
  await cp(agentDir("hello"), agentDir("neighbour"), { recursive: true });
  await writeFile(configOf("neighbour"), scheduled(await readFile(configOf("hello"), "utf8"), 7));
  scheduler = await startTestScheduler(project);
});

afterAll(async () => {
  await scheduler.stop();
  await project.remove();
});

const agentDir = (name: string): string => join(project.dir, "agents", name);
const configOf = (name: string): string => join(agentDir(name), "config.toml");

/** The config with a schedule on the first of January, at a minute that tells one edit from the next. */
function scheduled(text: string, minute: number): string {
  return text
    .replace(/^schedule = .*$/m, `schedule = "${minute} 12 1 1 *"`)
    .replace(/^timezone = .*\n/m, "")
    .replace(/^models/m, 'timezone = "UTC"\nmodels');
}

async function status(): Promise<StatusSnapshot> {
  const response = await scheduler.api("/control/status");
  return (await response.json()) as StatusSnapshot;
}

async function agent(name: string): Promise<AgentStatus | undefined> {
  return (await status()).agents.find((one) => one.name === name);
}

async function nextMinute(name = "hello"): Promise<string | undefined> {
  return (await agent(name))?.nextRunAt?.slice(14, 16);
}

async function edited(minute: number): Promise<string> {
  return scheduled(await readFile(configOf("hello"), "utf8"), minute);
}

async function inForce(minute: number): Promise<void> {
  await expect.poll(() => nextMinute(), { timeout: 5_000 }).toBe(String(minute).padStart(2, "0"));
}

describe("a config that is saved", () => {
  it("in place is in force", async () => {
    await writeFile(configOf("hello"), await edited(11));
    await inForce(11);
  });

  it("by an atomic rename is in force, ten times in a row", async () => {
    for (let minute = 20; minute < 30; minute++) {
      const draft = join(agentDir("hello"), ".config.toml.tmp");
      await writeFile(draft, await edited(minute));
      await rename(draft, configOf("hello"));
      await inForce(minute);
    }
  });

  it("as an editor does, which keeps a backup and swaps, is in force", async () => {
    const text = await edited(31);
    await rename(configOf("hello"), `${configOf("hello")}~`);
    await writeFile(configOf("hello"), text);
    await rm(`${configOf("hello")}~`);
    await inForce(31);
  });

  it("in two halves is told once it is whole", async () => {
    const text = await edited(32);
    await writeFile(configOf("hello"), text.slice(0, text.length / 2));
    await writeFile(configOf("hello"), text);
    await inForce(32);
    expect((await agent("hello"))?.error).toBeNull();
  });

  it("by a rename of the whole folder, away and back, is in force", async () => {
    const away = join(project.dir, "away");
    await rename(agentDir("hello"), away);
    await expect.poll(() => agent("hello")).toBeUndefined();
    await writeFile(
      join(away, "config.toml"),
      scheduled(await readFile(join(away, "config.toml"), "utf8"), 33),
    );
    await rename(away, agentDir("hello"));
    await inForce(33);
    await writeFile(configOf("hello"), await edited(34));
    await inForce(34);
  });

  it("leaves the neighbour's schedule, queue and run alone", async () => {
    await scheduler.api("/control/trigger/neighbour", { method: "POST" });
    const before = await agent("neighbour");
    expect(before?.running).toBe(1);
    await writeFile(configOf("hello"), await edited(35));
    await inForce(35);
    const after = await agent("neighbour");
    expect(after?.lastRunAt).toBe(before?.lastRunAt);
    expect(after?.nextRunAt).toBe(before?.nextRunAt);
    await expect
      .poll(async () => (await agent("neighbour"))?.lastOutcome, { timeout: 20_000 })
      .toBe("succeeded");
  });

  it("as a whole checkout with a hundred agents is in force", async () => {
    const template = join(project.dir, "template");
    await cp(agentDir("hello"), template, { recursive: true });
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        await mkdir(agentDir(`many-${index}`));
        for (const file of ["config.toml", "SKILL.md"]) {
          await copyFile(join(template, file), join(agentDir(`many-${index}`), file));
        }
      }),
    );
    await expect.poll(async () => (await status()).agents.length, { timeout: 10_000 }).toBe(102);
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => rm(agentDir(`many-${index}`), { recursive: true })),
    );
    await expect.poll(async () => (await status()).agents.length, { timeout: 10_000 }).toBe(2);
  });
});

describe("a scheduler that is paused", () => {
  it("skips and records cron ticks also after many reloads", async () => {
    await scheduler.api("/control/pause", { method: "POST" });
    for (let minute = 40; minute < 45; minute++) {
      await writeFile(configOf("hello"), await edited(minute));
      await inForce(minute);
    }
    const everyMinute = (await edited(45)).replace("45 12 1 1 *", "* * * * *");
    await writeFile(configOf("hello"), everyMinute);
    await scheduler.waitForOutput(/hello skipped: the scheduler is paused/, 75_000);
    expect((await agent("hello"))?.running).toBe(0);
    const history = await scheduler.api("/api/stats/triggers?agent=hello&outcome=skipped");
    const { triggers } = (await history.json()) as { triggers: { reason: string }[] };
    expect(triggers[0]?.reason).toBe("the scheduler is paused");
    await scheduler.api("/control/resume", { method: "POST" });
  }, 120_000);
});
