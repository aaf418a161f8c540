import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skill, skillProject } from "./skill-project.ts";

const { cli, repository, publish, pathOf, isUntouched } = skillProject();

test("al add never touches an existing agent", async () => {
  publish({ "SKILL.md": skill });
  mkdirSync(pathOf("skills"), { recursive: true });
  await cli.fails(
    `add ${repository().url} --yes`,
    /agents\/skills already exists[^]*`al update skills`/,
  );
  expect(readdirSync(pathOf("skills"))).toEqual([]);
});

const evil = "---js\nrequire('fs').writeFileSync('pwned', '')\n---\nHi\n";

test.each([
  ["a name outside agents/", { "SKILL.md": skill }, "--name ../out", 2, "../out"],
  ["a reserved name", { "SKILL.md": skill }, "--name scheduler", 2, "scheduler"],
  ["executable front matter", { "SKILL.md": evil }, "", 1, 'front matter begins with "---js"'],
  ["a repository without a skill", { "README.md": "Hi\n" }, "", 1, "in skills/<name>/"],
])("al add refuses %s", async (_what, files, flags, code, message) => {
  publish(files);
  await cli.fails(`add ${repository().url} --yes ${flags}`, message, code);
  expect(existsSync("pwned")).toBe(false);
  expect(isUntouched()).toBe(true);
});

test.each([
  ["--upload-pack='touch pwned'", 2, "is not a repository"],
  ["./nowhere", 1, "There is no directory /"],
])("al add refuses the source %s", async (source, code, message) => {
  await cli.fails(`-p ${cli.projectDir} add --yes -- ${source}`, message, code);
  expect(existsSync("pwned")).toBe(false);
});

test("al add needs a project with a model", async () => {
  publish({ "SKILL.md": skill });
  cli.write("config.toml", "");
  await cli.fails(`add ${repository().url} --yes`, "The project has no model");
});

test("al add ends at once with all its processes when it is interrupted, and leaves no files", async () => {
  const temporary = join(cli.projectDir, "tmp");
  mkdirSync(temporary);
  const ssh = join(cli.projectDir, "ssh");
  writeFileSync(ssh, `#!/bin/sh\necho $$ > ${ssh}.pid\nsleep 60\n`, { mode: 0o755 });
  const { stdout } = await cli.bash(`set -m
      TMPDIR=${temporary} GIT_SSH_COMMAND=${ssh} $AL add ssh://example.invalid/x --yes &
      until [ -s ${ssh}.pid ]; do sleep 0.05; done
      kill -INT $!; wait $!; echo "code $?"`);
  expect(stdout).toContain("code 130");
  expect(readdirSync(temporary)).toEqual([]);
  const pid = Number(readFileSync(`${ssh}.pid`, "utf8"));
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  expect(isUntouched()).toBe(true);
});
