import { copyFile, cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { forAll, LiveProject, slowly } from "../helpers/live-project.ts";
import { nearFullMinute } from "../helpers/scheduler.ts";

let project: LiveProject;

forAll(async () => {
  project = await LiveProject.hello();
  await writeFile(configOf("hello"), await edited(1));
  await project.copyAgent("hello", "neighbour", [/^schedule = "1 /m, 'schedule = "7 ']);
  await project.start({ env: nearFullMinute(20) });
});

const agentDir = (name: string): string => project.path(`agents/${name}`);
const configOf = (name: string): string => join(agentDir(name), "config.toml");
const agent = (name: string) => project.agent(name);

/** The config with a schedule on the first of January in UTC, at a minute that differs between edits. */
function scheduled(text: string, minute: number): string {
  return text
    .replace(/^schedule = .*$/m, `schedule = "${minute} 12 1 1 *"`)
    .replace(/^timezone = .*\n/m, "")
    .replace(/^models/m, 'timezone = "UTC"\nmodels');
}

const edited = async (minute: number): Promise<string> =>
  scheduled(await project.read("agents/hello/config.toml"), minute);

/** Waits until the agent's next run is at that minute. */
async function active(minute: number): Promise<void> {
  const next = async () => (await agent("hello"))?.nextRunAt?.slice(14, 16);
  await expect.poll(next, { timeout: 5_000 }).toBe(String(minute).padStart(2, "0"));
}

describe("a saved config is active", () => {
  it("when written in place", async () => {
    await writeFile(configOf("hello"), await edited(11));
    await active(11);
  });

  it("when renamed atomically, five times in a row", async () => {
    for (let minute = 20; minute < 25; minute++) {
      const draft = join(agentDir("hello"), ".config.toml.tmp");
      await writeFile(draft, await edited(minute));
      await rename(draft, configOf("hello"));
      await active(minute);
    }
  });

  it("when an editor keeps a backup and swaps the file", async () => {
    const text = await edited(31);
    await rename(configOf("hello"), `${configOf("hello")}~`);
    await writeFile(configOf("hello"), text);
    await rm(`${configOf("hello")}~`);
    await active(31);
  });

  it("when written in two halves, without an error of the first", async () => {
    const text = await edited(32);
    await writeFile(configOf("hello"), text.slice(0, text.length / 2));
    await writeFile(configOf("hello"), text);
    await active(32);
    expect((await agent("hello"))?.error).toBeNull();
  });

  it("when its whole folder is renamed, away and back", async () => {
    const away = join(project.dir, "away");
    await rename(agentDir("hello"), away);
    await expect.poll(() => agent("hello")).toBeUndefined();
    await writeFile(
      join(away, "config.toml"),
      scheduled(await project.read("away/config.toml"), 33),
    );
    await rename(away, agentDir("hello"));
    await active(33);
    await writeFile(configOf("hello"), await edited(34));
    await active(34);
  });

  it("saving one agent leaves the schedule, queue and run of another alone", async () => {
    await project.trigger("neighbour");
    const before = await agent("neighbour");
    expect(before?.running).toBe(1);
    await writeFile(configOf("hello"), await edited(35));
    await active(35);
    const after = await agent("neighbour");
    expect(after?.lastRunAt).toBe(before?.lastRunAt);
    expect(after?.nextRunAt).toBe(before?.nextRunAt);
    await expect
      .poll(async () => (await agent("neighbour"))?.lastOutcome, slowly)
      .toBe("succeeded");
  });

  it("when a checkout adds and removes a hundred agents", async () => {
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
    await expect
      .poll(async () => (await project.status()).agents.length, { timeout: 10_000 })
      .toBe(102);
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => rm(agentDir(`many-${index}`), { recursive: true })),
    );
    await expect
      .poll(async () => (await project.status()).agents.length, { timeout: 10_000 })
      .toBe(2);
  });
});

describe("a paused scheduler", () => {
  it("skips and records a tick of a schedule that was saved meanwhile", async () => {
    await project.post("/control/pause");
    const everyMinute = (await edited(45)).replace("45 12 1 1 *", "* * * * *");
    await writeFile(configOf("hello"), everyMinute);
    await project.scheduler.waitForOutput(/hello skipped: the scheduler is paused/, 75_000);
    expect((await agent("hello"))?.running).toBe(0);
    const [skipped] = await project.history("agent=hello&outcome=skipped");
    expect(skipped?.reason).toBe("the scheduler is paused");
    await project.post("/control/resume");
  }, 120_000);
});
