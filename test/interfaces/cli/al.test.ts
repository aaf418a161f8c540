import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { tempDir } from "../../helpers/temp-dir.ts";

const source = readFileSync(
  resolve(import.meta.dirname, "../../../src/interfaces/cli/al.ts"),
  "utf8",
);

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
  writeFileSync(join(home, "bin/node"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** The arguments of Node that make it look old: `al` reads nothing but the version to decide. */
function asOld(...args: readonly string[]): string[] {
  const old = join(folder, "old.mjs");
  const versions = '{ value: { ...process.versions, node: "18.20.0" } }';
  writeFileSync(old, `Object.defineProperty(process, "versions", ${versions});`);
  return ["--import", old, al, ...args];
}

function runOld(...args: readonly string[]) {
  const options = { encoding: "utf8", input: "from stdin" } as const;
  return spawnSync(process.execPath, asOld(...args), options);
}

describe("al on an old Node", () => {
  test("continues with the bundled Node, passing on arguments, streams and exit code", () => {
    bundle("24.1.0", 'echo "args: $*"; cat; echo problem >&2; exit 7');
    const { status, stdout, stderr } = runOld("stat", "two words");
    expect({ status, stderr }).toEqual({ status: 7, stderr: "problem\n" });
    expect(stdout).toContain("al.js stat two words\nfrom stdin");
  });

  test("says in one line which Node to install if the bundled one is missing or old", () => {
    const error =
      "error: al needs Node 24 or newer and this is 18.20.0; install it with: npm install --global node@24\n";
    expect(runOld("stat")).toMatchObject({ status: 1, stdout: "", stderr: error });
    bundle("20.0.0", "exit 0");
    expect(runOld("stat").status).toBe(1);
  });

  test("forwards signals to the bundled Node and waits for its end", async () => {
    bundle("24.1.0", 'trap "echo stopped; exit 3" TERM; echo up; while :; do sleep 0.05; done');
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const child = spawn(process.execPath, asOld("start"), { stdio: [...stdio] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
    const ended = new Promise((done) => child.on("close", done));
    await expect.poll(() => output).toBe("up\n");
    child.kill("SIGTERM");
    expect(await ended).toBe(3);
    expect(output).toBe("up\nstopped\n");
  });

  test("exits with 128 plus the number of the signal that ended the bundled Node", () => {
    bundle("24.1.0", "kill -9 $$");
    expect(runOld("start").status).toBe(137);
  });
});
