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
  await refused(/lists or contains more than 64 MiB/);
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
