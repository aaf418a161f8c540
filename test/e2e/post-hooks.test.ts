import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { LogEntry } from "../../streams/vocabulary.ts";
import { containerProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const { engine, missing } = await testEngine();

const script = `[[turns]]
text = "before"
[[turns.tools]]
name = "bash"
arguments = { command = "sleep 60" }

[[turns]]
text = "after"
`;

const agentConfig = (model: string, timeout: number, runtime: string) => `models = ["${model}"]
credentials = []
schedule = "0 0 29 2 *"
timeout = ${timeout}
${runtime}
[hooks]
post = ['sleep 1; echo "outcome $AL_OUTCOME"']
`;

describe("the post hooks of a run that its scheduler ends", () => {
  let project: TestProject;
  let scheduler: TestScheduler | null = null;
  afterEach(async () => {
    await scheduler?.stop();
    scheduler = null;
    await project.remove();
  });

  async function started(agent: string, timeout: number, runtime = ""): Promise<TestScheduler> {
    await writeFile(join(project.dir, `${agent}.script.toml`), script);
    const model = agent === "hello" ? "scripted" : agent;
    await writeFile(
      join(project.dir, `agents/${agent}/config.toml`),
      agentConfig(model, timeout, runtime),
    );
    scheduler = await startTestScheduler(project);
    await scheduler.api(`/control/trigger/${agent}`, { method: "POST" });
    return scheduler;
  }

  async function messages(agent: string, kind: string): Promise<readonly string[]> {
    const dir = join(project.dir, ".al/logs");
    const names = (await readdir(dir)).filter((name) => name.startsWith(`${agent}-`));
    const texts = await Promise.all(names.map((name) => readFile(join(dir, name), "utf8")));
    const lines = texts.join("").split("\n");
    const entries = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as LogEntry);
    return entries.filter((entry) => entry.kind === kind).map(({ msg }) => msg);
  }

  const isAsleep = (agent: string, timeout: number) =>
    expect.poll(() => messages(agent, "tool"), { timeout }).toContain("bash: sleep 60");

  async function ended(agent: string) {
    const read = async () => {
      const page = await scheduler?.api(`/api/stats/triggers?agent=${agent}`);
      return ((await page?.json()) as HistoryPage).triggers.find(({ kind }) => kind === "manual");
    };
    await expect
      .poll(async () => (await read())?.endedAt ?? null, { timeout: 40_000 })
      .not.toBeNull();
    return read();
  }

  const ownUser = `[runtime]\ntype = "host-user"\nrun_as = "$USER"\n`;

  test("know that a person killed it", { timeout: 60_000 }, async () => {
    project = await copyProject("examples/hello");
    await started("hello", 60, ownUser);
    await isAsleep("hello", 30_000);
    expect((await runAl(project, ["kill", "hello"])).code).toBe(0);
    expect(await ended("hello")).toMatchObject({ outcome: "killed" });
    expect(await messages("hello", "hook")).toContain("outcome killed");
  });

  test("know that it timed out", { timeout: 60_000 }, async () => {
    project = await copyProject("examples/hello");
    await started("hello", 3, ownUser);
    expect(await ended("hello")).toMatchObject({ outcome: "timed_out", exitCode: 124 });
    expect(await messages("hello", "hook")).toContain("outcome timed_out");
  });

  test.skipIf(missing !== null)(
    "know its end in a container too",
    { timeout: engineSetupMs },
    async () => {
      await defaultTestImage(engine);
      project = await containerProject(engine);
      await started("boxed", 60);
      await isAsleep("boxed", engineSetupMs / 2);
      expect((await runAl(project, ["kill", "boxed"])).code).toBe(0);
      expect(await ended("boxed")).toMatchObject({ outcome: "killed" });
      expect(await messages("boxed", "hook")).toContain("outcome killed");
    },
  );
});
