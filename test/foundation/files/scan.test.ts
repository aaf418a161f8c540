import { join } from "node:path";
import { renameSync, rmSync, symlinkSync, chmodSync, utimesSync, writeFileSync } from "node:fs";
import { pause } from "../../helpers/pause.ts";
import { BehaviorSubject } from "rxjs";
import { repairScans, scanProject, diffScan } from "../../../src/foundation/files/scan.ts";
import { tempProject, watching, write, addAgent } from "./support.ts";

async function changedBy(project: string, change: () => void): Promise<readonly string[]> {
  const before = await scanProject(project);
  change();
  return diffScan(before, await scanProject(project));
}

const config = "agents/dev/config.toml";

test("a scan of a project detects a changed file of the same size and time", async () => {
  const project = tempProject();
  const path = join(project, config);
  utimesSync(path, 1, 1);
  const changes = await changedBy(project, () => {
    writeFileSync(path, "MODELS = []\n");
    utimesSync(path, 1, 1);
  });
  expect(changes).toEqual([config]);
});

test("a scan of a project detects that a file was replaced by a rename, or its mode changed", async () => {
  const project = tempProject();
  const renamed = await changedBy(project, () => {
    write(join(project, "tmp"), "models = []\n");
    renameSync(join(project, "tmp"), join(project, config));
  });
  expect(renamed).toEqual([config]);
  expect(await changedBy(project, () => chmodSync(join(project, config), 0o600))).toEqual([config]);
});

test("a scan of a project detects an added and a changed calendar", async () => {
  const project = tempProject();
  const path = join(project, "holidays.ics");
  expect(await changedBy(project, () => write(path, "a"))).toEqual(["holidays.ics"]);
  expect(await changedBy(project, () => write(path, "ab"))).toEqual(["holidays.ics"]);
});

test("a scan of a project detects added, removed and emptied agents and schemas, and ignores other files", async () => {
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
  const schema = "agents/dev/out.schema.json";
  expect(await changedBy(project, () => write(join(project, schema), "{}"))).toEqual([schema]);
  const folder = "agents/dev/schemas";
  const added = await changedBy(project, () => write(join(project, folder, "state.json"), "{}"));
  expect(added).toEqual([folder, `${folder}/state.json`]);
});

test("a scan reports a changed file that a Dockerfile may copy as a changed Dockerfile, and ignores editors' files", async () => {
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

test("a change between two scans of a project is reported once", async () => {
  const project = tempProject();
  const { events } = await watching(repairScans(project, { everyMs: 30 }));
  write(join(project, "agents/dev/SKILL.md"), "changed");
  await expect.poll(() => events.length).toBe(2);
  await pause(100, "no further scan may report the change again");
  expect(events).toEqual([{ type: "ready" }, { type: "touched", path: "agents/dev/SKILL.md" }]);
});

test("the first scan of a project reports changes since the caller read the files", async () => {
  const project = tempProject();
  const before = await scanProject(project);
  write(join(project, "agents/dev/SKILL.md"), "changed");
  write(join(project, "config.toml"), "scale = 2");
  const { touched } = await watching(repairScans(project, { before }));
  expect(touched()).toEqual(new Set(["agents/dev/SKILL.md", "config.toml"]));
});

test("every restart of the file watcher begins with a scan", async () => {
  const project = tempProject();
  const begin$ = new BehaviorSubject(null);
  const { touched, forget } = await watching(repairScans(project, { begin$ }));
  write(join(project, "agents/dev/SKILL.md"), "changed");
  begin$.next(null);
  await expect.poll(touched).toEqual(new Set(["agents/dev/SKILL.md"]));
  forget();
  begin$.next(null);
  await pause(100, "a scan without a change reports nothing");
  expect(touched()).toEqual(new Set());
});

test("a failed scan of a project logs a warning and reports no file as removed", async () => {
  const project = tempProject();
  const { events, touched, forget } = await watching(repairScans(project, { everyMs: 30 }));
  const agents = join(project, "agents");
  renameSync(agents, join(project, "away"));
  // A name that is too long to look up fails for root too.
  symlinkSync("x".repeat(300), agents);
  await expect.poll(() => events.at(-1)?.type).toBe("warning");
  forget();
  rmSync(agents);
  renameSync(join(project, "away"), agents);
  write(join(agents, "dev/SKILL.md"), "back");
  await expect.poll(touched).toEqual(new Set(["agents/dev/SKILL.md"]));
});

test("an unreadable file does not hide others from a scan", async () => {
  const project = tempProject();
  const path = join(project, "agents/dev/Dockerfile");
  const { touched, forget } = await watching(repairScans(project, { everyMs: 30 }));
  symlinkSync("x".repeat(300), path);
  await expect.poll(touched).toEqual(new Set(["agents/dev/Dockerfile"]));
  forget();
  write(join(project, "agents/ops/SKILL.md"), "changed");
  await expect.poll(touched).toEqual(new Set(["agents/ops/SKILL.md"]));
});
