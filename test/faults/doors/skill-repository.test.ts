import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolders } from "../../interfaces/cli/fake-operator.ts";
import { makeRepository } from "../../features/skills/repositories.ts";
import { perTest } from "../../helpers/per-test.ts";

const project = '[models.main]\nprovider = "scripted"\nscript = "main.script.toml"\n';
const skill = "---\nname: Triage\ndescription: Sorts issues\n---\n\nSort them.\n";

const repository = perTest(makeRepository);
const folders = perTest(makeFolders, (made) => made.remove());
const mark = () => join(folders().home, "../pwned");
const agents = () => join(folders().projectDir, "agents");

/** Adds its skills, and expects that it acted on nothing else. */
async function add(...args: readonly string[]) {
  writeFileSync(join(folders().projectDir, "config.toml"), project);
  const temporary = join(folders().home, "../tmp");
  mkdirSync(temporary, { recursive: true });
  const command = ["add", repository().url, "--yes", ...args];
  const ran = await folders().al(command, { TMPDIR: temporary });
  expect(readdirSync(temporary)).toEqual([]);
  expect(existsSync(mark())).toBe(false);
  return ran;
}

/** Nothing of it came in, and the person is told why. */
async function refused(message: RegExp): Promise<void> {
  const { code, stderr } = await add();
  expect(stderr).toMatch(message);
  expect([code, existsSync(agents())]).toEqual([1, false]);
}

test("a skill repository with ten levels of ten folders each is rejected", async () => {
  const { store, tree, commitTree } = repository();
  let [kind, id] = ["100644 blob", store("x")];
  for (let depth = 0; depth < 10; depth += 1) {
    const entries = Array.from({ length: 10 }, (_, n) => `${kind} ${id}\tf${n}`);
    [kind, id] = ["40000 tree", tree(entries)];
  }
  commitTree([`100644 blob ${store(skill)}\tSKILL.md`, `${kind} ${id}\tscripts`]);
  await refused(/lists or holds more than 64 MiB/);
}, 90_000);

/** Each line has nine aliases of the line before. */
const aliases = "bcdefghij".split("").map((name, index) => {
  const of = `*${"abcdefghi".charAt(index)}`;
  return `${name}: &${name} [${Array.from({ length: 9 }, () => of).join(",")}]`;
});

test.each([
  ["instructions are above 1 MiB", `${skill}${"Sort. ".repeat(500_000)}`, /at most 1048576/],
  [
    "front matter has aliases that multiply",
    ["---", "a: &a [x]", ...aliases, "name: [*j, *j]", "---", "Hi", ""].join("\n"),
    /name is a list; expected text/,
  ],
])("a skill repository whose %s is rejected", async (_what, text, message) => {
  repository().write("SKILL.md", text);
  repository().commit();
  await refused(message);
});

test("fetching a skill repository runs no hooks, filters or submodule updates", async () => {
  const { write, makeExecutable, git } = repository();
  const touch = `touch ${mark()}`;
  const submodule = `path = x\nurl = -u./scripts/run.sh\nupdate = !${touch}\n`;
  const files = {
    "SKILL.md": skill,
    ".gitattributes": "* filter=evil diff=evil merge=evil export-subst\n",
    ".gitconfig": `[filter "evil"]\nsmudge = ${touch}\n[core]\nhooksPath = hooks\n`,
    ".gitmodules": `[submodule "x"]\n${submodule}`,
    "package.json": JSON.stringify({ scripts: { postinstall: touch } }),
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const hooks = ["post-checkout", "post-merge", "reference-transaction", "pre-commit"];
  for (const path of ["scripts/run.sh", ...hooks.map((hook) => `hooks/${hook}`)]) {
    write(path, `#!/bin/sh\n${touch}\n`);
    makeExecutable(path);
  }
  const withoutHooks = (...args: string[]) => git("-c", "core.hooksPath=/dev/null", ...args);
  withoutHooks("add", "--all");
  withoutHooks("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},x`);
  withoutHooks("commit", "--quiet", "-m", "all");
  expect((await add()).code).toBe(0);
  const added = readdirSync(join(agents(), "skills")).sort();
  expect(added).toEqual(["SKILL.md", "config.toml", "scripts"]);
});

test("a skill repository can't write outside the agent's folder by the name of a file or of the skill", async () => {
  const { store, tree, commitTree } = repository();
  const inner = tree([`100644 blob ${store(skill)}\tSKILL.md`]);
  const names = ["..", ".git", "a\\b", "x\u202ey", "CON ", "-rf", "default", "scheduler"];
  commitTree(names.map((name) => `40000 tree ${inner}\t${name}`));
  expect((await add()).code).not.toBe(0);
  for (const name of names) await add(`--skill=${name}`);
  // Some were a name after all, but for signs that no agent's name has.
  expect(readdirSync(folders().projectDir).sort()).toEqual([".al", "agents", "config.toml"]);
  expect(readdirSync(agents()).sort()).toEqual(["a-b", "con", "rf", "x-y"]);
});
