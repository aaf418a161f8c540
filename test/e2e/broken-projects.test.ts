import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject } from "../helpers/scheduler.ts";

let project: TestProject;

beforeEach(async () => {
  project = await copyProject("examples/hello");
});
afterEach(() => project.remove());

const path = (name: string) => join(project.dir, name);

/** What `al start` says before it gives up. */
async function refusal(): Promise<string> {
  const { code, stdout, stderr } = await runAl(project, ["start", "--web-ui", "--port", "0"]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).not.toMatch(/^ {4}at /m);
  expect(stderr.match(/^error: /gm)).toHaveLength(1);
  return stderr;
}

describe("al start on a broken project gives one clear message", () => {
  test("without a config", async () => {
    await rm(path("config.toml"));
    expect(await refusal()).toContain(`${project.dir} holds no config.toml`);
  });

  test("with a syntax error, at its line", async () => {
    await writeFile(path("config.toml"), '[models.scripted]\nprovider = "scripted\n');
    expect(await refusal()).toMatch(/config\.toml:2:\d+ /);
  });

  test("with a wrong value, and what is expected", async () => {
    await writeFile(path("config.toml"), '[gateway]\nport = "http"\n');
    expect(await refusal()).toMatch(/config\.toml:2:\d+ .*gateway\.port.*"http"/);
  });

  test("with a config that is no file", async () => {
    await rm(path("config.toml"));
    await mkdir(path("config.toml"));
    expect(await refusal()).toContain("config.toml is not a regular file");
  });

  test("with --json it is a document", async () => {
    await rm(path("config.toml"));
    const { code, stdout, stderr } = await runAl(project, ["start", "--json"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: expect.any(String) as string } });
  });
});

test.each([
  ["an unknown model", 'models = ["gpt"]\ncredentials = []\nschedule = "* * * * *"\n', "gpt"],
  ["a syntax error", "models = [\n", "TOML"],
  ["neither schedule nor webhooks", 'models = ["scripted"]\ncredentials = []\n', "schedule"],
  [
    "a source that isn't there",
    'models = ["scripted"]\ncredentials = []\n[[webhooks]]\nsource = "hub"\n',
    "hub",
  ],
])("%s of one agent is its own error, and the others are there", async (_what, config, words) => {
  await mkdir(path("agents/broken"));
  await writeFile(path("agents/broken/config.toml"), config);
  await writeFile(path("agents/broken/SKILL.md"), "---\nname: Broken\n---\nBe.\n");
  const scheduler = await startTestScheduler(project);
  try {
    const { stdout } = await runAl(project, ["stat"]);
    expect(stdout).toMatch(/^broken +error /m);
    expect(stdout).toMatch(/^error broken: agents\/broken\/config\.toml/m);
    expect(stdout).toContain(words);
    expect(stdout).toMatch(/^hello +(idle|running)/m);
    expect(await runAl(project, ["run", "broken"])).toMatchObject({ code: 1, stdout: "" });
  } finally {
    await scheduler.stop();
  }
});

test("a directory with a SKILL.md only is warned of, and becomes an agent by al config", async () => {
  await mkdir(path("agents/bare"));
  await writeFile(path("agents/bare/SKILL.md"), "---\nname: Bare\n---\nBe.\n");
  const scheduler = await startTestScheduler(project);
  try {
    await scheduler.waitForOutput(/agents\/bare .*but no config\.toml; al config bare makes one/);
    expect((await runAl(project, ["stat"])).stdout).not.toMatch(/^bare /m);
    const sets = ["--set", 'models=["scripted"]', "--set", "schedule=0 9 * * *"];
    expect(await runAl(project, ["config", "bare", ...sets])).toMatchObject({ code: 0 });
    const stat = async () => (await runAl(project, ["stat"])).stdout;
    await expect.poll(stat, { timeout: 5_000 }).toMatch(/^bare +idle /m);
  } finally {
    await scheduler.stop();
  }
  expect(scheduler.output().match(/but no config\.toml/g)).toHaveLength(1);
});
