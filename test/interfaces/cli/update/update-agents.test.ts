import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { skillProject } from "../add/skill-project.ts";

const skill = "---\nname: Triage\n---\n\nFirst line.\n\nA line between.\n\nLast line.\n";
const { cli, repository, publish, pathOf, read, configOf } = skillProject();
let installed: string;
beforeEach(() => {
  installed = publish({
    "triage/SKILL.md": skill,
    "triage/scripts/run.sh": "echo 1\n",
    "triage/references/old.md": "old\n",
  });
  install("triage", repository().url);
});

/** A config with a line of the person's own. */
const config = (source: string, commit: string) =>
  `# Ours\nsource = "${source}" # from there\nsourceCommit = "${commit}"\nmodels = ["main"]\ncredentials = []\nscale = 0\n`;

/** As `al add` leaves an agent. */
function install(name: string, source: string): void {
  cli.write(`agents/${name}/SKILL.md`, skill);
  cli.write(`agents/${name}/scripts/run.sh`, "echo 1\n");
  cli.write(`agents/${name}/references/old.md`, "old\n");
  cli.write(`agents/${name}/config.toml`, config(source, installed));
}

/** A new version at the source: a changed line, a new file, a changed script and one less. */
function publishNext(): string {
  repository().git("rm", "--quiet", "triage/references/old.md");
  repository().makeExecutable("triage/scripts/run.sh");
  return publish({
    "triage/SKILL.md": skill.replace("First", "1st"),
    "triage/scripts/run.sh": "echo 2\n",
    "triage/assets/new.txt": "new\n",
  });
}

/** The agent is as it was installed. */
function expectInstalled(): void {
  expect(read("triage/SKILL.md")).toBe(skill);
  expect(read("triage/config.toml")).toBe(config(repository().url, installed));
}

test("al update shows a diff, writes all changed files, and keeps the config's comments", async () => {
  const commit = publishNext();
  const stdout = await cli.output("update triage --yes");
  expect(stdout).toMatch(/@@ -2,7 \+2,7 @@[^]*\n-First line.\n\+1st line.\n/);
  expect(stdout).toMatch(/^ {2}added {4}assets\/new\.txt$/m);
  expect(stdout).toMatch(/^ {2}changed {2}scripts\/run\.sh {2}executable$/m);
  expect(stdout).toMatch(/^ {2}removed {2}references\/old\.md$/m);
  expect(read("triage/SKILL.md")).toBe(skill.replace("First", "1st"));
  expect(read("triage/assets/new.txt")).toBe("new\n");
  expect(statSync(pathOf("triage/scripts/run.sh")).mode & 0o111).not.toBe(0);
  expect(existsSync(pathOf("triage/references"))).toBe(false);
  expect(read("triage/config.toml")).toBe(config(repository().url, commit));
  await cli.prints("update", "triage is up to date\n");
});

test("al update rejects a file that was changed locally and at the source; the printed merge commands resolve that", async () => {
  const own = skill.replace("Last", "My last");
  cli.write("agents/triage/SKILL.md", own);
  const commit = publishNext();
  const stderr = await cli.failure("update triage --yes");
  expect(stderr).toContain("has local changes");
  expect(read("triage/SKILL.md")).toBe(own);
  expect(read("triage/scripts/run.sh")).toBe("echo 1\n");
  expect(configOf("triage").sourceCommit).toBe(installed);
  const [merge = "", next = ""] = [...stderr.matchAll(/^ {2}(.+)$/gm)].map(([, line]) => line);
  expect(next).toBe("al update triage --keep-local");
  execFileSync("/bin/sh", ["-c", merge]);
  await cli.output("update triage --keep-local --yes");
  expect(read("triage/SKILL.md")).toBe(own.replace("First", "1st"));
  expect(read("triage/scripts/run.sh")).toBe("echo 2\n");
  expect(configOf("triage").sourceCommit).toBe(commit);
});

test("al update counts every file as changed locally if the source lost the installed commit", async () => {
  const { git } = repository();
  git("checkout", "--quiet", "--orphan", "fresh");
  publish({ "triage/SKILL.md": "New.\n" });
  git("branch", "--quiet", "-D", "main");
  git("reflog", "expire", "--expire=now", "--all");
  git("gc", "--quiet", "--prune=now");
  await cli.fails("update --yes", "diff -u ");
  expectInstalled();
});

test("al update never writes through a symbolic link", async () => {
  const outside = join(cli.projectDir, "outside");
  mkdirSync(outside);
  symlinkSync(outside, pathOf("triage/assets"));
  publishNext();
  await cli.failure("update --yes");
  expect(existsSync(join(outside, "new.txt"))).toBe(false);
});

test("al update updates all agents that have a source, even if one of them fails", async () => {
  install("other", "file:///nowhere/at-all");
  install("zeta", `${repository().url}#triage`);
  cli.addAgent("own", "scale = 0");
  publishNext();
  expect(JSON.parse((await cli.al("update --yes --json")).stdout)).toMatchObject({
    updates: [
      { agent: "other", status: "failed" },
      { agent: "triage", status: "updated" },
      { agent: "zeta", status: "updated" },
    ],
  });
});

test("al update --check shows new versions and changes nothing", async () => {
  const commit = publishNext();
  const document = await cli.json("update --check");
  expect(document).toMatchObject({
    updates: [{ agent: "triage", status: "available", from: installed, to: commit }],
  });
  expect(JSON.stringify(document)).toContain("+1st line.");
  expectInstalled();
});

test("al update warns of changes that are invisible in the diff", async () => {
  publish({ "triage/SKILL.md": `${skill}\n!\`id\`\nHidden\u202E here.\n` });
  const stdout = await cli.output("update --check");
  expect(stdout).toContain("warning SKILL.md runs at the start of each run: id");
  expect(stdout).toMatch(/^(?![^]*\u202E)[^]*hides U\+202E/);
});

test.each([
  ["a broken SKILL.md", () => repository().write("triage/SKILL.md", "---js\nx\n---\n"), "---js"],
  ["no such skill", () => repository().git("rm", "triage/SKILL.md"), "no longer has this skill"],
])("al update rejects a new version with %s", async (_what, change, message) => {
  change();
  publish({ "README.md": "Hi\n" });
  await cli.fails("update --yes", message);
  expectInstalled();
});

test("al update reports an agent without a source, and an unknown agent", async () => {
  cli.addAgent("triage", "scale = 0");
  await cli.fails("update triage", "has no source to update from");
  await cli.fails("update trage", 'Did you mean "triage"?');
  await cli.prints("update", "");
});

test("al update without a terminal asks for the missing flag", async () => {
  publishNext();
  await cli.fails("update", /--yes is missing/, 2);
  expectInstalled();
});
