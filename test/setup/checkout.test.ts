import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
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

const packages = {
  "": { name: "almanac", devDependencies: { rxjs: "7" } },
  test: { name: "almanac-tests", devDependencies: { eslint: "10", rxjs: "7" } },
  "node_modules/rxjs": { version: "7.8.2", optionalDependencies: { fsevents: "2" } },
  "node_modules/fsevents": { version: "2.3.3", optional: true },
  "node_modules/eslint": { version: "10.0.0", dependencies: { levn: "1" } },
  "node_modules/eslint/node_modules/levn": { version: "1.0.0", dependencies: { rxjs: "7" } },
};

let clone: string;

beforeEach(() => {
  clone = tempDir();
  for (const folder of ["src/setup", "streams"])
    mkdirSync(join(clone, folder), { recursive: true });
  cpSync(script, join(clone, "src/setup/checkout.mjs"));
  writeFileSync(join(clone, "npm.mjs"), fakeNpm);
  writeFileSync(join(clone, "tsconfig.json"), "{}");
  writeFileSync(join(clone, "src/a.ts"), "");
  writeFileSync(join(clone, "src/b.ts"), "");
  lock("package-lock.json", packages);
  setAge(["src", "src/a.ts", "src/b.ts", "src/setup", "streams", "tsconfig.json"], 60);
  setAge(["src/setup/checkout.mjs", "package-lock.json"], 60);
});

function lock(file: string, content: object): void {
  writeFileSync(join(clone, file), JSON.stringify({ packages: content }));
}

function setAge(paths: readonly string[], seconds: number): void {
  const at = new Date(Date.now() - seconds * 1000);
  for (const path of paths) utimesSync(join(clone, path), at, at);
}

/** Runs the script as npm does; what it asked of npm, in order. */
function setUp(
  env: NodeJS.ProcessEnv = {},
  args: readonly string[] = [],
  node = process.execPath,
): { asked: string[]; code: number | null; said: string } {
  rmSync(join(clone, "npm-calls"), { force: true });
  const copy = join(clone, "src/setup/checkout.mjs");
  const { status, stderr } = spawnSync(node, [copy, ...args], {
    encoding: "utf8",
    env: { ...process.env, npm_execpath: join(clone, "npm.mjs"), ...env },
  });
  const calls = join(clone, "npm-calls");
  const asked = existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [];
  return { asked, code: status, said: stderr };
}

test("a fresh clone is installed and built, and neither is repeated", () => {
  expect(setUp()).toMatchObject({ asked: ["ci", "build"], code: 0 });
  expect(setUp()).toMatchObject({ asked: [], code: 0, said: "" });
});

test("tests install their own packages, which a later start keeps", () => {
  setUp();
  expect(setUp({}, ["tests"]).asked).toEqual(["ci test"]);
  expect(setUp({}, ["tests"]).asked).toEqual([]);
  expect(setUp().asked).toEqual([]);
  const levn = { "node_modules/eslint/node_modules/levn": { version: "1.0.1" } };
  lock("package-lock.json", { ...packages, ...levn });
  expect(setUp().asked).toEqual(["ci test", "build"]);
});

test("a missing package that only tests need installs again", () => {
  setUp({}, ["tests"]);
  const missing = { "node_modules/eslint/node_modules/levn": undefined };
  lock("node_modules/.package-lock.json", { ...packages, ...missing });
  expect(setUp({}, ["tests"]).asked).toEqual(["ci test"]);
});

const systemNode = "/usr/bin/node";
const { status, stdout } = spawnSync(systemNode, ["--version"], { encoding: "utf8" });
const isOld = status === 0 && /^v(18|20|22)\./.test(stdout);
if (!isOld) process.stderr.write("skipped: a clone on an old Node (the system's is not one)\n");

test.skipIf(!isOld)("a clone on an old Node gets a Node of its own", () => {
  expect(setUp({}, ["tests"], systemNode).asked).toEqual(["ci src/setup/node test", "build"]);
  expect(setUp({}, ["tests"], systemNode).asked).toEqual([]);
});

test("another version in the lock file installs and builds again", () => {
  setUp();
  lock("package-lock.json", { ...packages, "node_modules/rxjs": { version: "7.8.3" } });
  expect(setUp().asked).toEqual(["ci", "build"]);
});

test("a package that the lock file no longer names installs again", () => {
  setUp();
  lock("node_modules/.package-lock.json", {
    ...packages,
    "node_modules/old": { version: "1.0.0" },
  });
  expect(setUp().asked).toEqual(["ci test"]);
});

test("an optional package of another platform may be missing, any other may not", () => {
  setUp();
  lock("node_modules/.package-lock.json", { "node_modules/rxjs": { version: "7.8.2" } });
  expect(setUp().asked).toEqual([]);
  lock("node_modules/.package-lock.json", { "node_modules/fsevents": { version: "2.3.3" } });
  expect(setUp().asked).toEqual(["ci"]);
});

test("a lock file with another time and the same content builds but doesn't install", () => {
  setUp();
  setAge(["package-lock.json"], -1);
  expect(setUp().asked).toEqual(["build"]);
});

test("an interrupted install does not count, however far it came", () => {
  setUp();
  lock("package-lock.json", { ...packages, "node_modules/rxjs": { version: "7.8.3" } });
  expect(setUp({ FAIL: "ci" })).toMatchObject({ asked: ["ci"], code: 1 });
  lock("package-lock.json", packages);
  expect(setUp().asked[0]).toBe("ci");
});

test("a failed install shows a hint, and doesn't build", () => {
  const { asked, code, said } = setUp({ FAIL: "ci" });
  expect({ asked, code }).toEqual({ asked: ["ci"], code: 1 });
  expect(said).toMatch(/error: the packages could not be installed[^]*hint: /);
});

test("a changed, a new and a deleted source each cause a build", () => {
  setUp();
  setAge(["src/a.ts"], -1);
  expect(setUp().asked).toEqual(["build"]);
  setAge(["src/a.ts"], 60);
  expect(setUp().asked).toEqual([]);
  rmSync(join(clone, "src/b.ts"));
  expect(setUp().asked).toEqual(["build"]);
});

test("a failed build is repeated", () => {
  expect(setUp({ FAIL: "run" })).toMatchObject({ asked: ["ci", "build"], code: 1 });
  expect(setUp().asked).toEqual(["build"]);
});

test("a build whose files were deleted is repeated", () => {
  setUp();
  rmSync(join(clone, "dist/src"), { recursive: true });
  expect(setUp().asked).toEqual(["build"]);
});

test("a broken lock file is one clear message", () => {
  writeFileSync(join(clone, "package-lock.json"), "<<<<<<< HEAD");
  expect(setUp()).toMatchObject({ asked: [], code: 1 });
  expect(setUp().said).toContain("package-lock.json cannot be read");
});
