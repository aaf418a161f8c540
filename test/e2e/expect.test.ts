import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { standIn } from "../runtime/harness/llm-cli/stand-in.ts";
import { claudeStream } from "../runtime/harness/llm-cli/streams.ts";
import { callOf, commandAgents, latestOf, startAgents, until } from "../helpers/command-agents.ts";
import { runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const schema = JSON.stringify({
  type: "object",
  required: ["id"],
  properties: { id: { type: "integer" } },
});
const commands = (dir: string) => ({
  right: `al-return '{"id":1}'`,
  wrong: `al-return '{"id":"one"}'`,
  empty: "true",
  // Its model has no more turn in which it could say something.
  silent: "al-exit 0; sleep 60",
  waiter: `touch '${dir}/begun'; ${until(`${dir}/go`)}; al-return '{"id":"one"}'`,
  caller: `${callOf("wrong")}; al-return "$(al-subagent-wait "$id")"`,
});
const bySchema = 'schema = "out.json"';
const expectations = {
  right: `${bySchema}\nreturned = true\nsaid = true`,
  wrong: bySchema,
  empty: "returned = true",
  silent: "said = true",
  waiter: bySchema,
};

let project: TestProject;
let scheduler: TestScheduler;
beforeEach(async () => {
  project = await commandAgents(commands);
  for (const [agent, lines] of Object.entries(expectations)) {
    const dir = join(project.dir, "agents", agent);
    await appendFile(join(dir, "config.toml"), `[expect]\n${lines}\n`);
    await writeFile(join(dir, "out.json"), schema);
  }
  scheduler = await startTestScheduler(project);
});
afterEach(async () => {
  await scheduler.stop();
  await project.remove();
});

const refused = "the returned value does not meet out.json: /id must be integer";

/** How a run of an agent ends: on the command line, and in the history. */
async function ended(agent: string) {
  const { code } = await runAl(project, ["run", agent]);
  const { outcome, reason } = (await latestOf(scheduler, agent)) ?? {};
  return [code, outcome, reason];
}

it("a run fails that leaves less than its agent expects, whatever it makes of itself", async () => {
  expect(await ended("right")).toEqual([0, "succeeded", null]);
  expect(await ended("wrong")).toEqual([1, "failed", refused]);
  expect(await ended("empty")).toEqual([1, "failed", "nothing returned"]);
  expect(await ended("silent")).toEqual([1, "failed", "said nothing"]);
  // A caller sees it, too.
  await runAl(project, ["run", "caller"]);
  expect(await latestOf(scheduler, "caller")).toMatchObject({
    value: { calls: [{ agent: "wrong", outcome: "failed" }] },
  });
}, 120_000);

it("a run of another harness is checked just so", async () => {
  const cli = await standIn(project.dir, "claude", { stream: claudeStream });
  const key = join(project.home, "credentials", "anthropic_key", "default");
  await mkdir(key, { recursive: true, mode: 0o700 });
  await writeFile(join(key, "key"), "sk-of-the-model", { mode: 0o600 });
  await scheduler.stop();
  const model = '[models.claude]\nprovider = "anthropic"\nmodel = "claude-sonnet-4-5"\n';
  await appendFile(join(project.dir, "config.toml"), `\n${model}`);
  for (const agent of ["empty", "silent"]) {
    const file = join(project.dir, "agents", agent, "config.toml");
    const text = (await readFile(file, "utf8")).replace(/^models.*$/m, 'models = ["claude"]');
    await writeFile(file, `${text}[harness]\ntype = "llm-cli"\n`);
  }
  scheduler = await startTestScheduler(project, { env: { PATH: cli.path } });
  expect(await ended("empty")).toEqual([1, "failed", "nothing returned"]);
  expect(await ended("silent")).toEqual([0, "succeeded", null]);
}, 120_000);

it("a run that is adopted is checked by the schema that it began with", async () => {
  expect(await startAgents(scheduler, "waiter")).toEqual([202]);
  await expect.poll(() => existsSync(join(project.dir, "begun")), { timeout: 60_000 }).toBe(true);
  await scheduler.kill();
  await writeFile(join(project.dir, "agents/waiter/out.json"), "true");
  scheduler = await startTestScheduler(project);
  await writeFile(join(project.dir, "go"), "");
  await expect
    .poll(() => latestOf(scheduler, "waiter"), { timeout: 60_000 })
    .toMatchObject({ outcome: "failed", reason: refused, attempt: 1 });
}, 120_000);

it("a saved schema counts for the next run, and a broken one is an error with its place", async () => {
  const file = join(project.dir, "agents/wrong/out.json");
  await writeFile(file, '{\n  "type": "objekt"\n}');
  await scheduler.waitForOutput(
    /agents\/wrong\/out\.json:2:11 {2}not a JSON Schema: \/type must be/,
  );
  await writeFile(file, "true");
  await scheduler.waitForOutput(/expect\.schema changed/);
  expect(await ended("wrong")).toEqual([0, "succeeded", null]);
}, 120_000);
