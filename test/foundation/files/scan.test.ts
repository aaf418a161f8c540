import { chmodSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diffScan } from "../../../src/foundation/files/repair-scans.ts";
import { scanProject } from "../../../src/foundation/files/scan.ts";
import { addAgent, tempProject, write } from "./support.ts";

async function changedBy(project: string, change: () => void): Promise<readonly string[]> {
  const before = await scanProject(project);
  change();
  return diffScan(before, await scanProject(project));
}

const config = "agents/dev/config.toml";

test("nothing done is nothing touched", async () => {
  expect(await changedBy(tempProject(), () => undefined)).toEqual([]);
});

test("a change of the same size and with the old time is seen", async () => {
  const project = tempProject();
  const path = join(project, config);
  utimesSync(path, 1, 1);
  const changes = await changedBy(project, () => {
    writeFileSync(path, "MODELS = []\n");
    utimesSync(path, 1, 1);
  });
  expect(changes).toEqual([config]);
});

test("a rename over a file and a change of its mode are seen", async () => {
  const project = tempProject();
  const renamed = await changedBy(project, () => {
    write(join(project, "tmp"), "models = []\n");
    renameSync(join(project, "tmp"), join(project, config));
  });
  expect(renamed).toEqual([config]);
  expect(await changedBy(project, () => chmodSync(join(project, config), 0o600))).toEqual([config]);
});

test("agents that come, go or are empty are seen; other files are not", async () => {
  const project = tempProject();
  expect(await changedBy(project, () => addAgent(project, "new"))).toEqual([
    "agents/new",
    "agents/new/SKILL.md",
    "agents/new/config.toml",
  ]);
  const gone = await changedBy(project, () =>
    rmSync(join(project, "agents/ops"), { recursive: true }),
  );
  expect(gone).toEqual(["agents/ops", "agents/ops/SKILL.md", "agents/ops/config.toml"]);
  expect(await changedBy(project, () => write(join(project, "agents/dev/notes"), "x"))).toEqual([]);
});

test("a schema that comes, changes and goes is seen", async () => {
  const project = tempProject();
  const schema = "agents/dev/out.schema.json";
  const path = join(project, schema);
  expect(await changedBy(project, () => write(path, "{}"))).toEqual([schema]);
  expect(await changedBy(project, () => write(path, "[]"))).toEqual([schema]);
  expect(await changedBy(project, () => rmSync(path))).toEqual([schema]);
});

test("what a Dockerfile may copy is seen as the Dockerfile, but for what editors put beside it", async () => {
  const project = tempProject();
  const dir = join(project, "agents/dev");
  write(join(dir, "Dockerfile"), "FROM al-agent:latest\n");
  write(join(dir, "lib/setup.sh"), "echo 1");
  const dockerfile = ["agents/dev/Dockerfile"];
  const script = join(dir, "lib/setup.sh");
  expect(await changedBy(project, () => write(script, "echo 2"))).toEqual(dockerfile);
  expect(await changedBy(project, () => chmodSync(script, 0o755))).toEqual(dockerfile);
  expect(await changedBy(project, () => write(join(dir, "lib/.setup.sh.swp"), ""))).toEqual([]);
  expect(await changedBy(project, () => write(join(dir, "SKILL.md"), "x"))).toEqual([
    "agents/dev/SKILL.md",
  ]);
  expect(await changedBy(project, () => rmSync(script))).toEqual(dockerfile);
  // It goes into the image as a link.
  symlinkSync(project, join(dir, "lib/all"));
  expect(await changedBy(project, () => write(join(project, "other"), "x"))).toEqual([]);
});

test("a project without agents, or with links that lead nowhere, can be scanned", async () => {
  const project = tempProject([]);
  expect([...(await scanProject(project)).keys()]).toEqual(["config.toml"]);
  addAgent(project, "dev");
  symlinkSync("/nowhere", join(project, "agents/broken"));
  symlinkSync("circle", join(project, "agents/circle"));
  write(join(project, "agents/file"), "x");
  const scan = await scanProject(project);
  expect([...scan.keys()].sort()).toEqual([
    "agents/dev",
    "agents/dev/SKILL.md",
    "agents/dev/config.toml",
    "agents/file",
    "config.toml",
  ]);
});
