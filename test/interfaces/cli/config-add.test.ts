import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeFolders } from "./fake-operator.ts";
import type { Folders } from "./fake-operator.ts";

const dev = `schedule = "0 9 * * *" # every morning
models = ["main"]
credentials = []

[runtime]
type = "host-user"
run_as = "$USER"
`;

let folders: Folders;
let file: string;
beforeEach(() => {
  folders = makeFolders();
  const { projectDir } = folders;
  file = join(projectDir, "agents/dev/config.toml");
  mkdirSync(join(file, ".."), { recursive: true });
  const model = '[models.main]\nprovider = "scripted"\nscript = "main.script.toml"\n';
  writeFileSync(join(projectDir, "config.toml"), model);
  writeFileSync(file, dev);
  writeFileSync(join(projectDir, "agents/dev/SKILL.md"), "Do it.\n");
});
afterEach(() => folders.remove());

test("adds to a list what it does not have, also to one that is not there yet", async () => {
  const add = (entry: string) =>
    folders.al(["config", "dev", "--add", `network.allow=${entry}`, "--add", "models=main"]);
  expect(await add("api.example.com")).toMatchObject({ code: 0 });
  expect(await add("db.lan:5432 private")).toMatchObject({ code: 0 });
  expect(await add("api.example.com")).toMatchObject({ code: 0 });
  const text = readFileSync(file, "utf8");
  const network = { allow: ["api.example.com", "db.lan:5432 private"] };
  expect(parse(text)).toEqual({ ...parse(dev), network });
  expect(text).toContain("# every morning");
  const refused = await add("two words");
  expect(refused).toMatchObject({ code: 1 });
  expect(readFileSync(file, "utf8")).toBe(text);
  const noList = await folders.al(["config", "dev", "--add", "schedule=@daily"]);
  expect(noList).toMatchObject({ code: 2 });
  expect(noList.stderr).toContain("schedule is not a list");
});
