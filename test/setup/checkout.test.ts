import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { tempDir } from "../helpers/temp-dir.ts";

const script = resolve(import.meta.dirname, "../../src/setup/checkout.mjs");

/** Stands in for npm: writes down what it is asked, and leaves behind what npm would. */
const fakeNpm = `
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const [command, ...rest] = process.argv.slice(2);
const folders = rest.filter((arg) => arg.startsWith("--workspace=")).map((arg) => arg.slice(12));
appendFileSync("npm-calls", (command === "ci" ? ["ci", ...folders].join(" ") : rest.at(-1)) + "\\n");
if (process.env.FAIL === command) process.exit(1);
if (command === "ci") {
  mkdirSync("node_modules/node/bin", { recursive: true });
  writeFileSync("node_modules/node/bin/node", "");
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  const ofTests = ["node_modules/eslint", "node_modules/eslint/node_modules/levn"];
  if (!folders.includes("test")) for (const path of ofTests) delete packages[path];
  writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages }));
} else {
  mkdirSync("dist/src/cli", { recursive: true });
  writeFileSync("dist/src/cli/al.js", "");
}
`;

const levn = "node_modules/eslint/node_modules/levn";
const packages = {
  "": { name: "almanac", devDependencies: { rxjs: "7" } },
  test: { name: "almanac-tests", devDependencies: { eslint: "10", rxjs: "7" } },
  "node_modules/rxjs": { version: "7.8.2", optionalDependencies: { fsevents: "2" } },
  "node_modules/fsevents": { version: "2.3.3", optional: true },
  "node_modules/eslint": { version: "10.0.0", dependencies: { levn: "1" } },
  [levn]: { version: "1.0.0", dependencies: { rxjs: "7" } },
};
const lockFile = "package-lock.json";
const installed = "node_modules/.package-lock.json";

let clone: string;

beforeEach(() => {
  clone = tempDir();
  for (const source of ["src/a.ts", "src/b.ts", "streams/c.ts"]) write(source, "");
  write("npm.mjs", fakeNpm);
  write("tsconfig.json", "{}");
  mkdirSync(join(clone, "src/setup"));
  cpSync(script, join(clone, "src/setup/checkout.mjs"));
  lock(lockFile, packages);
  const sources = "src src/a.ts src/b.ts src/setup src/setup/checkout.mjs streams streams/c.ts";
  setAge(60, ...sources.split(" "), "tsconfig.json", lockFile);
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), text);
}

const lock = (file: string, content: object) => write(file, JSON.stringify({ packages: content }));
const remove = (path: string) => rmSync(join(clone, path), { recursive: true });

function setAge(seconds: number, ...paths: readonly string[]): void {
  const at = new Date(Date.now() - seconds * 1000);
  for (const path of paths) utimesSync(join(clone, path), at, at);
}

/** Runs the script as npm does; what it asked of npm, in order. */
function setUp(args = "", env: NodeJS.ProcessEnv = {}, node = process.execPath) {
  const calls = join(clone, "npm-calls");
  rmSync(calls, { force: true });
  const copy = join(clone, "src/setup/checkout.mjs");
  const { status, stderr } = spawnSync(node, args === "" ? [copy] : [copy, args], {
    encoding: "utf8",
    env: { ...process.env, npm_execpath: join(clone, "npm.mjs"), ...env },
  });
  const asked = existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [];
  return { asked, code: status, said: stderr };
}

test("the first set-up of a git clone installs and builds, the second does neither", () => {
  expect(setUp()).toMatchObject({ asked: ["ci", "build"], code: 0 });
  expect(setUp()).toMatchObject({ asked: [], code: 0, said: "" });
});

test("setting up a git clone for tests installs packages that a later start keeps", () => {
  setUp();
  expect(setUp("tests").asked).toEqual(["ci test"]);
  expect(setUp("tests").asked).toEqual([]);
  expect(setUp().asked).toEqual([]);
  lock(lockFile, { ...packages, [levn]: { version: "1.0.1" } });
  expect(setUp().asked).toEqual(["ci test", "build"]);
});

const systemNode = "/usr/bin/node";
const { status, stdout } = spawnSync(systemNode, ["--version"], { encoding: "utf8" });
const isOld = status === 0 && /^v(18|20|22)\./.test(stdout);
if (!isOld) process.stderr.write("skipped: a clone on an old Node (the system's is not one)\n");

test.skipIf(!isOld)("a clone on an old Node gets a Node of its own", () => {
  expect(setUp("tests", {}, systemNode).asked).toEqual(["ci src/setup/node test", "build"]);
  expect(setUp("tests", {}, systemNode).asked).toEqual([]);
});

test.each<[string, string[], () => void]>([
  [
    "a missing package that only tests need",
    ["ci test"],
    () => lock(installed, { ...packages, [levn]: undefined }),
  ],
  [
    "another version in the lock file",
    ["ci test", "build"],
    () => lock(lockFile, { ...packages, "node_modules/rxjs": { version: "7.8.3" } }),
  ],
  [
    "a package that the lock file no longer names",
    ["ci test"],
    () => lock(installed, { ...packages, "node_modules/old": { version: "1.0.0" } }),
  ],
  [
    "a missing package for another platform",
    [],
    () => lock(installed, { ...packages, "node_modules/fsevents": undefined }),
  ],
  [
    "a missing package",
    ["ci test"],
    () => lock(installed, { ...packages, "node_modules/rxjs": undefined }),
  ],
  ["a lock file with another time and the same content", ["build"], () => setAge(-1, lockFile)],
  ["a changed source", ["build"], () => setAge(-1, "src/a.ts")],
  ["a deleted source", ["build"], () => remove("src/b.ts")],
  ["a new source", ["build"], () => write("src/d.ts", "")],
  ["a deleted build", ["build"], () => remove("dist/src")],
])("an installed git clone with %s is set up by the npm commands %j", (_change, asked, change) => {
  setUp("tests");
  change();
  expect(setUp("tests")).toMatchObject({ asked, code: 0 });
});

test("setting up a clone repeats an interrupted install", () => {
  setUp();
  lock(lockFile, { ...packages, "node_modules/rxjs": { version: "7.8.3" } });
  const { asked, code, said } = setUp("", { FAIL: "ci" });
  expect({ asked, code }).toEqual({ asked: ["ci"], code: 1 });
  expect(said).toMatch(/error: the packages could not be installed[^]*hint: /);
  lock(lockFile, packages);
  expect(setUp().asked[0]).toBe("ci");
});

test("setting up a clone repeats a failed build", () => {
  expect(setUp("", { FAIL: "run" })).toMatchObject({ asked: ["ci", "build"], code: 1 });
  expect(setUp().asked).toEqual(["build"]);
});

test("setting up a clone with a broken lock file fails with one clear message", () => {
  write(lockFile, "<<<<<<< HEAD");
  const said = expect.stringContaining("package-lock.json cannot be read") as string;
  expect(setUp()).toMatchObject({ asked: [], code: 1, said });
});
