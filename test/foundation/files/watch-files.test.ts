import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { isAgentName, listAgents } from "../../../src/foundation/config/agent-files.ts";
import { scanProject } from "../../../src/foundation/files/scan.ts";
import { watchFiles } from "../../../src/foundation/files/watch-files.ts";
import { addAgent, tempProject, write } from "./support.ts";

/** What is told of a project from when its watcher is ready. */
async function watched(project: string) {
  const files = watchFiles(project, {
    scan: await scanProject(project),
    problems: [],
    isAgentName,
    listAgents: () => listAgents(project),
  });
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
