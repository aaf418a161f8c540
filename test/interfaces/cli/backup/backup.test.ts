import { openStore } from "../../../../src/features/open-store.ts";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { cliProject, type Folders } from "../fake-operator.ts";

/** The project that is backed up, with a database and a log, and one in which it is restored. */
const [project, copy] = [cliProject(), cliProject()];
let out: string;
let file: string;
beforeEach(() => {
  out = join(project.home, "../out");
  mkdirSync(out);
  file = join(out, "a.tgz");
  openStore(project.projectDir).close();
  project.write(log, "a line\n");
  storeSecret(project, "github_token/bot/token", "the token");
});

const log = ".al/logs/dev-2026-11-26.log";
const blob = `blobs/0a/${"0a".repeat(32)}`;
const token = "credentials/github_token/bot/token";
const inHome = (cli: Folders, path: string) => join(cli.home, path);

function storeSecret(cli: Folders, path: string, text: string): void {
  const target = inHome(cli, `credentials/${path}`);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  writeFileSync(target, text, { mode: 0o600 });
}

async function writeArchive(entries: Readonly<Record<string, Buffer | string>>) {
  const archive = pack();
  for (const [name, content] of Object.entries(entries)) archive.entry({ name }, content);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  writeFileSync(file, gzipSync(Buffer.concat(chunks)));
}

test("al backup does not overwrite other files", async () => {
  const database = project.read(".al/state.db");
  await project.output(`backup ${project.projectDir}/.al/state`);
  expect(project.read(".al/state.db")).toBe(database);
  writeFileSync(`${file}.part`, "mine", { mode: 0o666 });
  symlinkSync(join(out, "elsewhere"), `${file}.db`);
  const line = `backup ${file} --credentials`;
  const both = await Promise.all([project.process(line), project.process(line)]);
  expect(both.map(({ code }) => code).sort()).toEqual([0, 1]);
  expect(both.map(({ stderr }) => stderr).join("")).toContain("a.tgz already exists");
  expect(readFileSync(`${file}.part`, "utf8")).toBe("mine");
  expect(readdirSync(out).sort()).toEqual(["a.tgz", "a.tgz.db", "a.tgz.part"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("al backup stores exactly the files that al restore accepts", async () => {
  storeSecret(project, "github_token/bot/token~", "an editor's copy");
  storeSecret(project, "github_token/bot/folder/inner", "no field");
  project.write(".al/logs/old copy.log", "a line\n");
  project.write(`.al/${blob}`, "a report");
  project.write(".al/blobs/staging/0123456789abcdef-0123456789abcdef", "half a report");
  await project.output(`backup ${file} --credentials`);
  const names = execFileSync("tar", ["tzf", file], { encoding: "utf8" }).trim().split("\n");
  expect(names.sort()).toEqual([blob, token, "logs/dev-2026-11-26.log", "state.db"]);
  await copy.output(`restore ${file} --credentials`);
  expect(copy.read(log)).toBe("a line\n");
  expect(copy.read(`.al/${blob}`)).toBe("a report");
  expect(readFileSync(inHome(copy, token), "utf8")).toBe("the token");
});

test("al backup into a missing directory suggests creating it", async () => {
  await project.fails(
    `backup ${out}/missing/a.tgz`,
    /a\.tgz can't be written: no such file or directory\.\nhint: Create the directory \S+missing /,
  );
});

test("al backup on a full disk fails with one error, and leaves no temporary file", async () => {
  project.write(log, randomBytes(4_000_000).toString("base64"));
  const { code, stderr } = await project.bash(`ulimit -f 2000; $AL backup ${file}`);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^.*a\.tgz can't be written: .*\n.*Free some space.*\n$/);
  expect(readdirSync(out)).toEqual([]);
});

test.each([
  "state.db",
  "state.db-wal",
  "state.db-shm",
  "state.db-journal",
  "logs/a.log",
  "blobs/0a",
])("al restore rejects a project that already has %s", async (name) => {
  await project.output(`backup ${file}`);
  copy.write(`.al/${name}`, "of another");
  await copy.fails(`restore ${file}`, `${name} already exists; nothing was restored`);
  expect(copy.read(`.al/${name}`)).toBe("of another");
  expect(existsSync(join(copy.projectDir, ".al/state.db"))).toBe(name === "state.db");
});

test("a failed al restore changes nothing, reports why, and can be repeated", async () => {
  const line = `restore ${file} --credentials`;
  const files = { [token]: "the token", "logs/dev-2026-11-26.log": "a line\n" };
  await copy.fails(line, /There is no file .*a\.tgz/);
  await writeArchive({ ...files, "state.db": "this is not a database" });
  await copy.fails(line, "file is not a database");
  await writeArchive(files);
  await copy.fails(line, "a.tgz is not a whole backup: it has no state.db");
  writeFileSync(file, readFileSync(file).subarray(0, -20));
  await copy.fails(line, "is not a whole backup: unexpected end of file");
  expect(readdirSync(inHome(copy, "credentials"))).toEqual([]);
  expect(readdirSync(join(copy.projectDir, ".al")).sort()).toEqual([".gitignore", "run"]);
  const database = readFileSync(join(project.projectDir, ".al/state.db"));
  await writeArchive({ ...files, "state.db": database });
  await copy.output(line);
  expect(readdirSync(inHome(copy, "credentials"))).toEqual(["github_token"]);
});

test("al restore does not change a credential that is already stored", async () => {
  storeSecret(project, "smtp/default/user", "theirs");
  storeSecret(project, "smtp/default/password", "theirs");
  await project.output(`backup ${file} --credentials`);
  storeSecret(copy, "smtp/default/user", "mine");
  const document = { credentials: 1, kept: 1 };
  expect(await copy.json(`restore ${file} --credentials`)).toMatchObject(document);
  expect(readdirSync(inHome(copy, "credentials/smtp/default"))).toEqual(["user"]);
});

test.each([
  "../outside",
  "logs/../../outside.log",
  `blobs/../../../outside`,
  "credentials/../../outside",
  "agents/x/SKILL.md",
])("al restore rejects an archive with %s, and changes nothing", async (name) => {
  await writeArchive({ [name]: "outside" });
  await copy.fails(`restore ${file} --credentials`, "which no backup contains");
  const left = readdirSync(inHome(copy, ".."), { recursive: true }).join();
  expect(left).not.toMatch(/outside|SKILL|restored/);
});
