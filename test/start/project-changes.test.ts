import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Subject } from "rxjs";
import type { ProjectChange } from "../../src/foundation/config/project-config.ts";
import { loadProject } from "../../src/foundation/config/resolve-project.ts";
import { projectChanges } from "../../src/start/project-changes.ts";
import { pause } from "../helpers/pause.ts";
import { tempDir } from "../helpers/temp-dir.ts";

let dir = "";

beforeEach(async () => {
  dir = tempDir();
  await writeFile(join(dir, "config.toml"), "scale = 1\n");
});

const settled = () => pause(150, "a change that would be reported must have been by then");

async function watched() {
  const first: ProjectChange = { type: "set", ...(await loadProject(dir, {})) };
  const touched$ = new Subject<void>();
  const seen: ProjectChange["type"][] = [];
  const start = () =>
    projectChanges(dir, touched$, {}, first).subscribe(({ type }) => seen.push(type));
  return { touched$, seen, start };
}

test("projectChanges emits nothing if a file is saved without changes", async () => {
  const { touched$, seen, start } = await watched();
  const subscription = start();
  touched$.next();
  await settled();
  subscription.unsubscribe();
  expect(seen).toEqual([]);
});

test("projectChanges emits each change of a config file that breaks and is fixed twice", async () => {
  const { touched$, seen, start } = await watched();
  const subscription = start();
  await writeFile(join(dir, "config.toml"), "scale = \n");
  touched$.next();
  await expect.poll(() => seen).toEqual(["invalid"]);
  await writeFile(join(dir, "config.toml"), "scale = 1\n");
  touched$.next();
  await expect.poll(() => seen).toEqual(["invalid", "set"]);
  subscription.unsubscribe();
});
