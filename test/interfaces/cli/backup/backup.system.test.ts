import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { openStore } from "../../../../src/foundation/store/store.ts";
import { LiveProject } from "../../../helpers/live-project.ts";
import { builtAl } from "../../../helpers/scheduler.ts";

const log = ".al/logs/dev-2026-11-26.log";

/** A project with a database, a log and a credential; backups go to the folder `out` beside it. */
async function stored(): Promise<LiveProject> {
  const project = await emptyProject();
  openStore(project.dir).close();
  await project.write(log, "a line\n");
  await project.store("github_token/bot/token", "the token");
  return project;
}

const emptyProject = () => LiveProject.of({ "project/config.toml": "", "out/.keep": "" });
const outOf = (project: LiveProject) => join(project.dir, "../out");

const namesIn = (file: string): string[] =>
  execFileSync("tar", ["tzf", file], { encoding: "utf8" }).trim().split("\n").sort();

async function writeArchive(file: string, entries: Readonly<Record<string, Buffer | string>>) {
  const archive = pack();
  for (const [name, content] of Object.entries(entries)) archive.entry({ name }, content);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  writeFileSync(file, gzipSync(Buffer.concat(chunks)));
}

test("a backup leaves every foreign file", async () => {
  const project = await stored();
  const out = outOf(project);
  const database = readFileSync(project.path(".al/state.db"));
  await project.print("backup", project.path(".al/state"));
  expect(readFileSync(project.path(".al/state.db"))).toEqual(database);
  writeFileSync(join(out, "a.tgz.part"), "mine", { mode: 0o666 });
  symlinkSync(join(out, "elsewhere"), join(out, "a.tgz.db"));
  const [one, two] = await Promise.all(
    [1, 2].map(() => project.al("backup", join(out, "a.tgz"), "--credentials")),
  );
  expect([one?.code, two?.code].sort()).toEqual([0, 1]);
  expect(`${one?.stderr}${two?.stderr}`).toContain("a.tgz already exists");
  expect(readFileSync(join(out, "a.tgz.part"), "utf8")).toBe("mine");
  expect(readdirSync(out).sort()).toEqual([".keep", "a.tgz", "a.tgz.db", "a.tgz.part"]);
  expect(statSync(join(out, "a.tgz")).mode & 0o777).toBe(0o600);
});

test("a backup has the files that a restore takes, and no others", async () => {
  const project = await stored();
  await project.store("github_token/bot/token~", "an editor's copy");
  await project.store("github_token/bot/folder/inner", "no field");
  await project.write(".al/logs/old copy.log", "a line\n");
  const file = join(outOf(project), "a.tgz");
  await project.print("backup", file, "--credentials");
  const names = ["credentials/github_token/bot/token", "logs/dev-2026-11-26.log", "state.db"];
  expect(namesIn(file)).toEqual(names);
  const copy = await emptyProject();
  await copy.print("restore", file, "--credentials");
  expect(await copy.read(log)).toBe("a line\n");
  expect(readFileSync(join(copy.home, "credentials/github_token/bot/token"), "utf8")).toBe(
    "the token",
  );
});

test("a backup into a missing directory suggests making it", async () => {
  const project = await stored();
  const { stderr } = await project.al("backup", join(outOf(project), "missing", "a.tgz"));
  expect(stderr).toMatch(/a\.tgz can't be written: ENOENT.*\nhint: make the directory \S+missing /);
});

test("a backup on a full disk is one error, and leaves no draft", async () => {
  const project = await stored();
  await project.write(log, randomBytes(4_000_000).toString("base64"));
  const limited = 'ulimit -f 2000; exec "$0" "$@"';
  const command = [builtAl, "backup", join(outOf(project), "a.tgz"), "-p", project.dir];
  const env = { ...process.env, AL_HOME: project.home };
  const done = promisify(execFile)("sh", ["-c", limited, process.execPath, ...command], { env });
  const { code, stderr } = await done.then(
    () => ({ code: 0, stderr: "" }),
    (error: unknown) => error as { code: number; stderr: string },
  );
  expect({ code, lines: stderr.trim().split("\n").length }).toEqual({ code: 1, lines: 2 });
  expect(stderr).toMatch(/a\.tgz can't be written: EFBIG.*\n.*free some space/);
  expect(readdirSync(outOf(project))).toEqual([".keep"]);
});

test.each(["state.db", "state.db-wal", "state.db-shm", "state.db-journal", "logs/a.log"])(
  "a project that has %s of another database can't be backed up",
  async (name) => {
    const [project, copy] = [await stored(), await emptyProject()];
    const file = join(outOf(project), "a.tgz");
    await project.print("backup", file);
    await copy.write(`.al/${name}`, "of another");
    const refused = await copy.al("restore", file);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain(`${name} already exists; nothing was restored`);
    expect(await copy.read(`.al/${name}`)).toBe("of another");
    expect(existsSync(copy.path(".al/state.db"))).toBe(name === "state.db");
  },
);

test("a restore that fails changes nothing, reports why, and can be repeated", async () => {
  const [project, copy] = [await stored(), await emptyProject()];
  const file = join(outOf(project), "a.tgz");
  const secret = { "credentials/github_token/bot/token": "the token" };
  const logs = { "logs/dev-2026-11-26.log": "a line\n" };
  const failure = async () => (await copy.al("restore", file, "--credentials")).stderr;
  expect(await failure()).toContain("a.tgz can't be restored: ENOENT");
  await writeArchive(file, { ...secret, ...logs, "state.db": "this is not a database" });
  expect(await failure()).toContain("file is not a database");
  await writeArchive(file, { ...secret, ...logs });
  expect(await failure()).toContain("a.tgz is not a whole backup: it has no state.db");
  writeFileSync(file, readFileSync(file).subarray(0, -20));
  expect(await failure()).toContain("a.tgz is not a whole backup: unexpected end of file");
  expect(readdirSync(join(copy.home, "credentials"))).toEqual([]);
  expect(readdirSync(copy.path(".al")).sort()).toEqual([".gitignore", "run"]);
  const database = readFileSync(project.path(".al/state.db"));
  await writeArchive(file, { ...secret, ...logs, "state.db": database });
  await copy.print("restore", file, "--credentials");
  expect(readdirSync(join(copy.home, "credentials"))).toEqual(["github_token"]);
});

test("a restore keeps a stored credential with all its fields", async () => {
  const [project, copy] = [await stored(), await emptyProject()];
  await project.store("smtp/default/user", "theirs");
  await project.store("smtp/default/password", "theirs");
  const file = join(outOf(project), "a.tgz");
  await project.print("backup", file, "--credentials");
  await copy.store("smtp/default/user", "mine");
  const restored = await copy.al("restore", file, "--credentials", "--json");
  expect(JSON.parse(restored.stdout)).toMatchObject({ credentials: 1, kept: 1 });
  expect(readdirSync(join(copy.home, "credentials/smtp/default"))).toEqual(["user"]);
});

test.each([
  "../outside",
  "logs/../../outside.log",
  "credentials/../../outside",
  "agents/x/SKILL.md",
])("an archive with %s is refused, and changes nothing", async (name) => {
  const copy = await emptyProject();
  const file = join(outOf(copy), "a.tgz");
  await writeArchive(file, { [name]: "outside" });
  const refused = await copy.al("restore", file, "--credentials");
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain("which no backup has");
  const left = readdirSync(join(copy.dir, ".."), { recursive: true }).join();
  expect(left).not.toMatch(/outside|SKILL|restored/);
});
