import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);

/** The commands of README.md that make a project of one's own, without their comments. */
const [packing = "", installing = "", ...commands] = readmeCommands("### A project of your own");

function readmeCommands(heading: string): string[] {
  const [, section = ""] = readFileSync(join(root, "README.md"), "utf8").split(`${heading}\n`);
  const [, block = ""] = /```sh\n([^`]*)```/.exec(section) ?? [];
  return block
    .trim()
    .split("\n")
    .map((line) => line.replace(/\s+#.*/, ""));
}

let folder: string;
/** Where the package is, as `npm install --global` puts it below its prefix. */
let installed: string;
let packed: readonly string[];
/** None of them outlives a test that failed. */
const started: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "al-packed-"));
  installed = join(folder, "prefix/lib/node_modules/almanac");
  expect(packing).toBe("npm pack");
  // Nothing is built here: the tests have a build already, and it is that one.
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", pack, { cwd: root });
  const [{ filename, files }] = JSON.parse(stdout) as [
    { filename: string; files: { path: string }[] },
  ];
  packed = files.map(({ path }) => path);
  expect(installing).toBe("npm install --global ./almanac-*.tgz");
  await install(join(folder, filename));
});
afterAll(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** What npm does with a package that has no dependencies. */
async function install(tarball: string): Promise<void> {
  mkdirSync(installed, { recursive: true });
  await run("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
    bin: { al: string };
  };
  const al = join(installed, manifest.bin.al);
  chmodSync(al, 0o755);
  mkdirSync(join(folder, "prefix/bin"));
  symlinkSync(al, join(folder, "prefix/bin/al"));
}

/** Puts a package of the checkout into a folder of packages. */
function link(name: string, into: string): void {
  mkdirSync(dirname(join(into, name)), { recursive: true });
  symlinkSync(join(root, "node_modules", name), join(into, name));
}

/** A newcomer's environment: the installed command and a Node first. */
function environment(nodeDir: string): NodeJS.ProcessEnv {
  const PATH = [join(folder, "prefix/bin"), nodeDir, "/usr/bin", "/bin"].join(":");
  return { PATH, HOME: join(folder, "home"), AL_HOME: join(folder, "al-home"), NO_COLOR: "1" };
}

describe("the package", () => {
  test("holds the built program, the README and the licence, and nothing of the checkout's own", () => {
    expect(packed).toEqual(
      expect.arrayContaining(["README.md", "LICENSE", "package.json", "dist/src/cli/al.js"]),
    );
    const strange = packed.filter(
      (path) =>
        !/^(dist\/(src\/.+\.(js|css|wasm)|licenses\.txt|sbom\.cdx\.json)|.+\.md|examples\/gallery\/overview-light\.png|LICENSE|package\.json)$/.test(
          path,
        ),
    );
    expect(strange).toEqual([]);
  });
});

describe("a newcomer with the package", () => {
  test("follows the README's first page to the letter", async () => {
    const env = environment(dirname(process.execPath));
    let cwd = folder;
    let said = "";
    let scheduler: Background | null = null;
    for (const command of commands) {
      const [, dir] = /^cd (\S+)$/.exec(command) ?? [];
      if (dir !== undefined) cwd = join(cwd, dir);
      else if (command.startsWith("al start")) scheduler = await inBackground(command, cwd, env);
      else said += (await run("/bin/sh", ["-c", command], { cwd, env })).stdout;
    }
    expect(commands).toEqual(
      expect.arrayContaining(["al new my-project", "al run hello", "al stat", "al stop"]),
    );
    expect(said).toContain("agents/hello/SKILL.md");
    expect(said).toContain("Hello from your first agent");
    expect(said).toMatch(/^hello +(idle|running)/m);
    expect(said).toContain("stopped");
    expect(await scheduler?.ended).toBe(0);
  }, 90_000);

  test("gets the whole dashboard", async () => {
    const env = environment(dirname(process.execPath));
    await run("al", ["new", "seen"], { cwd: folder, env });
    const { url, ended } = await inBackground("al start --web-ui", join(folder, "seen"), env);
    const key = readFileSync(
      join(folder, "al-home/credentials/gateway_api_key/default/key"),
      "utf8",
    ).trim();
    const login = await fetch(new URL("/login", url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ key }),
    });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    for (const page of [
      "/dashboard",
      "/dashboard/agents/hello",
      "/dashboard/triggers",
      "/dashboard/cost",
      "/openapi.json",
    ]) {
      const response = await fetch(new URL(page, url), { headers: { cookie } });
      expect([page, response.status]).toEqual([page, 200]);
    }
    await run("al", ["stop", "-p", join(folder, "seen")], { env });
    expect(await ended).toBe(0);
  }, 60_000);
});

interface Background {
  readonly url: string;
  /** The exit code. */
  readonly ended: Promise<number | null>;
}

/** Resolves once the scheduler says that it runs. Another port: the usual one may be in use here. */
async function inBackground(
  command: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Background> {
  const line = `exec ${command} --port 0`;
  const child = spawn("/bin/sh", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  const ended = new Promise<number | null>((done) => child.once("close", done));
  let output = "";
  await new Promise<void>((ready, fail) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.includes("API key:")) ready();
    });
    child.once("close", () => fail(new Error(`the scheduler ended: ${output}`)));
  });
  return { url: /^Dashboard: +(\S+)$/m.exec(output)?.[1] ?? "", ended };
}

/** The system's own Node, when it is an old one. */
const systemNode = "/usr/bin/node";
const hasOldNode = await run(systemNode, ["--version"]).then(
  ({ stdout }) => Number(stdout.slice(1).split(".")[0]) < 24,
  () => false,
);
if (!hasOldNode)
  process.stderr.write("skipped: the package on an old Node (the system's is not one)\n");

test.skipIf(!hasOldNode)("on an old Node says what to install, and then works", async () => {
  const env = environment(dirname(systemNode));
  const refused = run("al", ["--version"], { env });
  await expect(refused).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^error: al needs Node 24 .*npm install --global node@24\n$/,
    ) as string,
  });
  link("node", join(folder, "prefix/lib/node_modules"));
  const { stdout } = await run("al", ["--version"], { env });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
