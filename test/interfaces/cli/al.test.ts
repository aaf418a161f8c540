import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { tempDir } from "../../helpers/temp-dir.ts";

const source = readFileSync(
  resolve(import.meta.dirname, "../../../src/interfaces/cli/al.ts"),
  "utf8",
);

/** The system's own Node, when it is an old one: then the real thing is tested too. */
const systemNode = "/usr/bin/node";
const systemVersion = existsSync(systemNode)
  ? spawnSync(systemNode, ["--version"], { encoding: "utf8" }).stdout.slice(1)
  : "";
const hasOldNode = Number(systemVersion.split(".")[0] || 24) < 24;

let folder: string;
let al: string;

beforeEach(() => {
  folder = tempDir();
  al = join(folder, "al.js");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2024 };
  writeFileSync(al, ts.transpileModule(source, { compilerOptions }).outputText);
});

/** Installs a `node` package beside al, whose binary is a shell script. */
function bundle(version: string, script: string): void {
  const home = join(folder, "node_modules/node");
  mkdirSync(join(home, "bin"), { recursive: true });
  writeFileSync(join(home, "package.json"), JSON.stringify({ name: "node", version }));
  writeFileSync(join(home, "bin/node"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(home, "bin/node"), 0o755);
}

/** Node with another version number: the file reads nothing else to decide. */
function pretendOld(): string {
  const file = join(folder, "old.mjs");
  writeFileSync(
    file,
    'const node = "18.20.0"; Object.defineProperty(process, "versions", { value: { ...process.versions, node } });',
  );
  return file;
}

function runOld(...args: string[]) {
  const options = { encoding: "utf8", input: "from stdin" } as const;
  return spawnSync(process.execPath, ["--import", pretendOld(), al, ...args], options);
}

describe("on an old Node", () => {
  test("al on an old Node continues with the bundled one: arguments, streams and exit code", () => {
    bundle("24.1.0", 'echo "args: $*"; cat; echo problem >&2; exit 7');
    const { status, stdout, stderr } = runOld("stat", "two words");
    expect(status).toBe(7);
    expect(stdout).toContain("al.js stat two words\nfrom stdin");
    expect(stderr).toBe("problem\n");
  });

  test("al on an old Node says in one line which Node to install if it finds none", () => {
    const { status, stdout, stderr } = runOld("stat");
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(
      /^error: al needs Node 24 or newer and this is 18\.20\.0; install it with: npm install --global node@24\n$/,
    );
  });

  test("al on an old Node starts the bundled one only once, even if that is old too", () => {
    bundle("20.0.0", "exit 0");
    expect(runOld("stat").status).toBe(1);
  });

  test("al on an old Node forwards signals and waits for the end", async () => {
    bundle("24.1.0", 'trap "echo stopped; exit 3" TERM; echo up; while :; do sleep 0.05; done');
    const child = spawn(process.execPath, ["--import", pretendOld(), al, "start"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      if (!output.includes("up") && chunk.includes("up")) child.kill("SIGTERM");
      output += chunk;
    });
    const code = await new Promise((done) => child.on("close", done));
    expect({ code, output }).toEqual({ code: 3, output: "up\nstopped\n" });
  });

  test("al on an old Node reports a death by signal as 128 and its number", () => {
    bundle("24.1.0", "kill -9 $$");
    expect(runOld("start").status).toBe(137);
  });
});

test.skipIf(!hasOldNode)(`al runs on the system's own Node ${systemVersion.trim()}`, () => {
  bundle("24.1.0", 'echo "args: $*"; exit 7');
  const { status, stdout } = spawnSync(systemNode, [al, "stat"], { encoding: "utf8" });
  expect(status).toBe(7);
  expect(stdout).toContain("al.js stat");
});
