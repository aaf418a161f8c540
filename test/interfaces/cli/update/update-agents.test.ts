import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { makeRepository, type TestRepository } from "../../../features/skills/repositories.ts";
import { cliProject } from "../fake-operator.ts";
import { onTerminal, whyNoTerminal } from "../terminal.ts";

const noTerminal = whyNoTerminal();
if (noTerminal !== null) process.stderr.write(`skipped: al update on a terminal (${noTerminal})\n`);

const project = '[models.main]\nprovider = "scripted"\nscript = "main.script.toml"\n';
const skill = "---\nname: Triage\n---\n\nFirst line.\n\nA line between.\n\nLast line.\n";

const cli = cliProject();
let repository: TestRepository;
let installed: string;
beforeEach(() => {
  repository = makeRepository();
  writeFileSync(join(cli.projectDir, "config.toml"), project);
  repository.write("triage/SKILL.md", skill);
  repository.write("triage/scripts/run.sh", "echo 1\n");
  repository.write("triage/references/old.md", "old\n");
  installed = repository.commit();
  install("triage", repository.url);
});

/** As `al add` leaves an agent, with a line of the person's own in its config. */
function install(name: string, source: string): void {
  for (const [path, text] of [
    ["SKILL.md", skill],
    ["scripts/run.sh", "echo 1\n"],
    ["references/old.md", "old\n"],
    [
      "config.toml",
      `# Ours\nsource = "${source}" # from there\nsourceCommit = "${installed}"\nmodels = ["main"]\ncredentials = []\nscale = 0\n`,
    ],
  ] as const) {
    cli.write(`agents/${name}/${path}`, text);
  }
}

const path = (file: string, name = "triage") => join(cli.projectDir, "agents", name, file);
const read = (file: string, name = "triage") => readFileSync(path(file, name), "utf8");
const sourceCommit = () => parse(read("config.toml")).sourceCommit;

/** A new version at the source: a changed line, a new script, a changed one and one less. */
function publish(): string {
  repository.write("triage/SKILL.md", skill.replace("First", "1st"));
  repository.write("triage/scripts/run.sh", "echo 2\n");
  repository.makeExecutable("triage/scripts/run.sh");
  repository.write("triage/assets/new.txt", "new\n");
  repository.git("rm", "--quiet", "triage/references/old.md");
  return repository.commit();
}

test("al update shows a diff of SKILL.md and the other files, writes them, and keeps the config's comments", async () => {
  const commit = publish();
  const stdout = await cli.output("update triage --yes");
  expect(stdout).toContain("@@ -2,7 +2,7 @@");
  expect(stdout).toContain("\n-First line.\n+1st line.\n");
  expect(stdout).toMatch(/^ {2}added {4}assets\/new\.txt$/m);
  expect(stdout).toMatch(/^ {2}changed {2}scripts\/run\.sh {2}executable$/m);
  expect(stdout).toMatch(/^ {2}removed {2}references\/old\.md$/m);
  expect(read("SKILL.md")).toBe(skill.replace("First", "1st"));
  expect(read("assets/new.txt")).toBe("new\n");
  expect(statSync(path("scripts/run.sh")).mode & 0o111).not.toBe(0);
  expect(existsSync(path("references"))).toBe(false);
  expect(read("config.toml")).toBe(
    `# Ours\nsource = "${repository.url}" # from there\nsourceCommit = "${commit}"\nmodels = ["main"]\ncredentials = []\nscale = 0\n`,
  );
  expect((await cli.al("update")).stdout).toBe("triage is up to date\n");
});

test("al update keeps a local change if the source did not change the file", async () => {
  writeFileSync(path("SKILL.md"), `${skill}Mine.\n`);
  repository.write("triage/scripts/run.sh", "echo 2\n");
  const commit = repository.commit();
  expect((await cli.al("update --yes")).code).toBe(0);
  expect(read("SKILL.md")).toBe(`${skill}Mine.\n`);
  expect(read("scripts/run.sh")).toBe("echo 2\n");
  expect(sourceCommit()).toBe(commit);
});

test("al update rejects a file that was changed on both sides; its merge commands work, and then the rest is updated", async () => {
  writeFileSync(path("SKILL.md"), skill.replace("Last", "My last"));
  const commit = publish();
  const { code, stderr } = await cli.al("update triage --yes");
  expect(code).toBe(1);
  expect(stderr).toContain("has changes of its own");
  expect(read("SKILL.md")).toBe(skill.replace("Last", "My last"));
  expect(read("scripts/run.sh")).toBe("echo 1\n");
  expect(sourceCommit()).toBe(installed);
  const [merge = "", next = ""] = stderr
    .split("\n")
    .filter((line) => line.startsWith("  "))
    .map((line) => line.trim());
  expect(next).toBe("al update triage --keep-local");
  execFileSync("/bin/sh", ["-c", merge]);
  expect((await cli.al([...next.split(" ").slice(1), "--yes"])).code).toBe(0);
  expect(read("SKILL.md")).toBe(skill.replace("Last", "My last").replace("First", "1st"));
  expect(read("scripts/run.sh")).toBe("echo 2\n");
  expect(sourceCommit()).toBe(commit);
  expect((await cli.al("update")).stdout).toBe("triage is up to date\n");
});

test("al update counts every file as changed here if the source lost the installed commit", async () => {
  repository.git("checkout", "--quiet", "--orphan", "fresh");
  repository.write("triage/SKILL.md", "New.\n");
  repository.commit();
  repository.git("branch", "--quiet", "-D", "main");
  repository.git("reflog", "expire", "--expire=now", "--all");
  repository.git("gc", "--quiet", "--prune=now");
  const stderr = await cli.failure("update --yes");
  expect(stderr).toContain("diff -u ");
  expect(read("SKILL.md")).toBe(skill);
});

test("al update never writes through a link", async () => {
  const outside = join(cli.projectDir, "outside");
  mkdirSync(outside);
  symlinkSync(outside, path("assets"));
  publish();
  expect((await cli.al("update --yes")).code).toBe(1);
  expect(existsSync(join(outside, "new.txt"))).toBe(false);
});

test("al update updates all that have a source, and one failure does not stop the others", async () => {
  install("other", "file:///nowhere/at-all");
  install("zeta", `${repository.url}#triage`);
  mkdirSync(path("", "own"), { recursive: true });
  writeFileSync(path("config.toml", "own"), 'models = ["main"]\ncredentials = []\nscale = 0\n');
  writeFileSync(path("SKILL.md", "own"), "Own.\n");
  publish();
  const { code, stdout } = await cli.al("update --yes --json");
  expect(code).toBe(1);
  const { updates } = JSON.parse(stdout) as { updates: { agent: string; status: string }[] };
  expect(updates.map(({ agent, status }) => [agent, status])).toEqual([
    ["other", "failed"],
    ["triage", "updated"],
    ["zeta", "updated"],
  ]);
});

test("al update --check shows new versions and changes nothing", async () => {
  const commit = publish();
  const stdout = await cli.output("update --check --json");
  expect(JSON.parse(stdout)).toMatchObject({
    updates: [{ agent: "triage", status: "available", from: installed, to: commit }],
  });
  expect(stdout).toContain("+1st line.");
  expect(read("SKILL.md")).toBe(skill);
  expect(sourceCommit()).toBe(installed);
});

test("al update off a terminal names the missing flag", async () => {
  publish();
  const stderr = await cli.failure("update", 2);
  expect(stderr).toContain("--yes is missing");
  expect(read("SKILL.md")).toBe(skill);
});

test.each([
  ["a broken SKILL.md", () => repository.write("triage/SKILL.md", "---js\nx\n---\n"), "---js"],
  ["a link", () => repository.link("triage/assets/x", "/etc/passwd"), "symbolic link"],
  [
    "no such skill",
    () =>
      repository.git("mv", "triage", "other") + repository.git("mv", "other/SKILL.md", "other/x"),
    "no such skill",
  ],
])("al update refuses a new version with %s", async (_what, change, message) => {
  change();
  repository.commit();
  const stderr = await cli.failure("update --yes");
  expect(stderr).toContain(message);
  expect(read("SKILL.md")).toBe(skill);
  expect(sourceCommit()).toBe(installed);
});

test("al update warns of changes that a reader of the diff would miss", async () => {
  repository.write("triage/SKILL.md", `${skill}\n!\`id\`\nHidden\u202E here.\n`);
  repository.commit();
  const { stdout } = await cli.al("update --check");
  expect(stdout).toContain("warning SKILL.md runs at the start of each run: id");
  expect(stdout).toContain("hides U+202E");
  expect(stdout).not.toContain("\u202E");
});

test("al update reports an agent without a source, and an unknown agent", async () => {
  writeFileSync(path("config.toml"), 'models = ["main"]\ncredentials = []\nscale = 0\n');
  const one = await cli.failure("update triage");
  expect(one).toContain("has no source to update from");
  const none = await cli.al("update trage");
  expect(none.stderr).toContain('did you mean "triage"?');
  expect(await cli.al("update")).toMatchObject({ code: 0, stdout: "" });
});

test.skipIf(noTerminal !== null)(
  "al update on a terminal asks, and changes nothing unless confirmed",
  async () => {
    publish();
    const asked = onTerminal(cli, "update");
    await asked.until("Update triage?");
    expect(asked.shown()).toContain("+1st line.");
    asked.line("");
    expect(await asked.ended).toBe(1);
    expect(sourceCommit()).toBe(installed);
  },
);
