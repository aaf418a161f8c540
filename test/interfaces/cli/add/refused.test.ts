import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeRepository, type TestRepository } from "../../../features/skills/repositories.ts";
import { cliProject } from "../fake-operator.ts";
import { addedNothing } from "./added.ts";

const project = '[models.main]\nprovider = "scripted"\nscript = "main.script.toml"\n';
const skill = "---\nname: Triage\ndescription: Sorts issues\n---\n\nSort them.\n";

const cli = cliProject();
let repository: TestRepository;
beforeEach(() => {
  repository = makeRepository();
  writeFileSync(join(cli.projectDir, "config.toml"), project);
});

test("al add never touches an existing agent", async () => {
  repository.write("SKILL.md", skill);
  repository.commit();
  const skills = join(cli.projectDir, "agents/skills");
  mkdirSync(skills, { recursive: true });
  const stderr = await cli.failure(`add ${repository.url} --yes`);
  expect(stderr).toContain("agents/skills already exists");
  expect(stderr).toContain("hint: al update skills");
  expect(readdirSync(skills)).toEqual([]);
});

test.each([
  ["an option in the URL's place", ["add", "--yes", "--", "--upload-pack=touch pwned"], 2],
  ["another transport", ["add", "ext::sh -c 'touch pwned'", "--yes"], 2],
  ["a name that leads out", ["add", "REPO", "--name", "../out", "--yes"], 2],
  ["a directory that is missing", ["add", "./nowhere", "--yes"], 1, "there is no directory /"],
  ["a reserved name", ["add", "REPO", "--name", "scheduler", "--yes"], 2],
])("al add refuses %s", async (_what, args, expected, message = "") => {
  repository.write("SKILL.md", skill);
  repository.commit();
  const { code, stderr } = await cli.al([
    "-p",
    cli.projectDir,
    ...args.map((arg) => (arg === "REPO" ? repository.url : arg)),
  ]);
  expect(code).toBe(expected);
  expect(stderr).toContain(message);
  expect(addedNothing(cli)).toBe(true);
  expect(existsSync("pwned")).toBe(false);
});

test.each([
  [
    "executable front matter",
    "---js\nrequire('fs').writeFileSync('pwned', '')\n---\nHi\n",
    'front matter begins with "---js"',
  ],
  ["broken front matter", "---\nname: [\n---\nHi\n", "not valid YAML"],
  ["a skill for another version", '---\ncompatibility: ">=99"\n---\nHi\n', "compatible with"],
  ["bytes that are no text", new Uint8Array([0xff, 0xfe, 0x41]), "not UTF-8"],
])("al add refuses %s", async (_what, text, message) => {
  repository.write("SKILL.md", text);
  repository.commit();
  const stderr = await cli.failure(`add ${repository.url} --yes`);
  expect(stderr).toContain(message);
  expect(existsSync("pwned")).toBe(false);
  expect(addedNothing(cli)).toBe(true);
});

test("al add rejects a link, names it, and leaves nothing", async () => {
  repository.write("SKILL.md", skill);
  repository.link("references/keys", "/etc/shadow");
  repository.commit();
  const { code, stdout } = await cli.al(`add ${repository.url} --yes --json`);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: "unsafe_skill",
      message: expect.stringContaining('"references/keys" is a symbolic link') as string,
    },
  });
  expect(addedNothing(cli)).toBe(true);
});

test("al add reports where a repository without a skill should have one", async () => {
  repository.write("README.md", "Hello\n");
  repository.commit();
  const stderr = await cli.failure(`add ${repository.url} --yes`);
  expect(stderr).toContain("has no skill");
  expect(stderr).toContain("skills/<name>/");
});

test("al add needs a project with a model", async () => {
  repository.write("SKILL.md", skill);
  repository.commit();
  writeFileSync(join(cli.projectDir, "config.toml"), "");
  const stderr = await cli.failure(`add ${repository.url} --yes`);
  expect(stderr).toContain("the project has no model");
});

test("al add ends at once when it is interrupted, with all its processes, and leaves nothing", async () => {
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
  expect(addedNothing(cli)).toBe(true);
});
