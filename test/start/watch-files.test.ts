import { copyFileSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { scanProject } from "../../src/files/scan.ts";
import { watchFiles } from "../../src/start/watch-files.ts";
import { addAgent, tempProject, write } from "../files/support.ts";

/** What is told of a project from when its watcher is ready. */
async function watched(project: string, others: readonly string[] = []) {
  const scan = await scanProject(project);
  const files = watchFiles(project, { scan, problems: [], others });
  const agents: string[] = [];
  const warnings: string[] = [];
  const subscription = files.agent$.subscribe((name) => agents.push(name));
  subscription.add(files.warning$.subscribe((text) => warnings.push(text)));
  onTestFinished(() => subscription.unsubscribe());
  addAgent(project, "first");
  await expect.poll(() => agents).toContain("first");
  return { agents, warnings };
}

test("a directory that can't be an agent is told when it appears, once", async () => {
  const project = tempProject();
  const { agents, warnings } = await watched(project);
  addAgent(project, "Bad_Name");
  await expect.poll(() => warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/^agents\/Bad_Name.*is not an agent's name.*rename the directory$/);
  write(join(project, "agents/Bad_Name/config.toml"), "changed");
  await sleep(300);
  expect(warnings).toHaveLength(1);
  expect(agents).not.toContain("Bad_Name");
});

test("a directory that is renamed to what can't be an agent is told", async () => {
  const project = tempProject();
  const { warnings } = await watched(project);
  renameSync(join(project, "agents/ops"), join(project, "agents/default"));
  await expect.poll(() => warnings.join()).toContain("this name is reserved");
  rmSync(join(project, "agents/default"), { recursive: true });
});

const bare = (name: string) =>
  `agents/${name}  is not an agent: it has a SKILL.md, but no config.toml; al config ${name} makes one`;
/** Longer than what is told waits for. */
const quietMs = 1_600;

test("a directory that has no config.toml from the start is told, once", async () => {
  const project = tempProject();
  write(join(project, "agents/bare/SKILL.md"), "Do it.");
  mkdirSync(join(project, "agents/empty"));
  const { warnings } = await watched(project, ["bare", "empty"]);
  await expect.poll(() => warnings, { timeout: 5_000 }).toEqual([bare("bare")]);
  write(join(project, "agents/bare/SKILL.md"), "Do it well.");
  await sleep(quietMs);
  expect(warnings).toHaveLength(1);
});

test("a directory without config.toml is told when it appears, and when it lost its own", async () => {
  const project = tempProject();
  const { warnings } = await watched(project);
  write(join(project, "agents/bare/SKILL.md"), "Do it.");
  await expect.poll(() => warnings, { timeout: 5_000 }).toEqual([bare("bare")]);
  rmSync(join(project, "agents/ops/config.toml"));
  await expect.poll(() => warnings, { timeout: 5_000 }).toEqual([bare("bare"), bare("ops")]);
});

test("a save by rename and files that come one after the other are not told", async () => {
  const project = tempProject();
  const { agents, warnings } = await watched(project);
  const [config, away] = [join(project, "agents/dev/config.toml"), join(project, "old.toml")];
  renameSync(config, away);
  write(join(project, "agents/slow/SKILL.md"), "Do it.");
  await expect.poll(() => agents).toEqual(expect.arrayContaining(["dev", "slow"]));
  await sleep(300);
  renameSync(away, config);
  copyFileSync(config, join(project, "agents/slow/config.toml"));
  rmSync(join(project, "agents/ops"), { recursive: true });
  await sleep(quietMs);
  expect(warnings).toEqual([]);
});
