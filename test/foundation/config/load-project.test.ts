import { join } from "node:path";
import { loadProject } from "../../../src/foundation/config/resolve-project.ts";
import { refusal } from "../credentials/home.ts";
import { directory, filters, projectChange, said } from "./samples.ts";

const refusalOf = (dir: string) => refusal(loadProject(dir, filters));

test("loadProject reads the project's config.toml, with its warnings", async () => {
  const dir = await directory({
    "config.toml": 'sale = 1\n[models.m]\nprovider = "scripted"\nscript = "scripts/a.json"',
  });
  const { project, warnings } = await loadProject(dir, filters);
  expect(project.models.m?.script).toBe(join(dir, "scripts/a.json"));
  expect(project.timezone).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  expect(warnings).toHaveLength(1);
});

test("loadProject reports a directory that is not a project, and how to make one", async () => {
  const dir = await directory({});
  const error = await refusalOf(dir);
  expect(error.message).toBe(`not a project: ${dir} contains no config.toml`);
  expect(error.code).toBe("not_a_project");
  expect(error.hint).toContain("al new <dir>");
  expect((await refusalOf(join(dir, "nowhere"))).code).toBe("not_a_project");
});

test("loadProject reports a config.toml that is not a regular file", async () => {
  const dir = await directory({ "config.toml/x": "" });
  expect((await refusalOf(dir)).message).toMatch(/config\.toml is not a regular file/);
});

test("loadProject reports every problem of a config, one line each", async () => {
  const dir = await directory({ "config.toml": 'scale = 0\ntimezone = "x"\n' });
  const error = await refusalOf(dir);
  expect(error.message.split("\n").map((line) => line.split("  ")[0])).toEqual([
    "config.toml:1:9",
    "config.toml:2:12",
  ]);
});

test("an unknown key in config.toml without a similar known key is reported with all known keys", () =>
  expect(said(projectChange("[harness]\nzzzzzz = 1"))).toEqual([
    'warning: config.toml:2:1  unknown key "zzzzzz" is ignored; known here: type, command',
  ]));
