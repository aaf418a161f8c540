/**
 * Makes a clone ready: installs the packages when they don't match package-lock.json, then builds when a source is
 * newer than the last build. `npm start` and `npm test` call it first, the latter with `tests`: a start needs half of the
 * packages. Plain JavaScript for Node 18 and up, with no dependency, because it runs before there is anything else.
 */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const builtStamp = join(root, "dist/.built");
const builtProgram = join(root, "dist/src/cli/al.js");
const installedPackages = join(root, "node_modules/.package-lock.json");
const isOldNode = Number(process.versions.node.split(".")[0]) < 24;
/** The workspaces whose packages are needed: a Node if this one is old, and those of tests and checks. */
const needed = [
  ...(isOldNode ? ["src/setup/node"] : []),
  ...(process.argv.includes("tests") ? ["test"] : []),
];

/** Runs the npm that runs this script, so that its version and settings stay the same. */
function npm(...args) {
  const own = process.env.npm_execpath;
  const [command, first] = own ? [process.execPath, [own]] : ["npm", []];
  return spawnSync(command, [...first, ...args], { cwd: root, stdio: "inherit" }).status === 0;
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

function fail(line, hint) {
  say(`error: ${line}`);
  say(`hint: ${hint}`);
  process.exit(1);
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages ?? {};
  } catch {
    return null;
  }
}

/** Compares contents, not times: a checkout of another branch and back must not cost an install. */
function isInstalled(wanted, present) {
  const same = (path) => present[path]?.version === wanted[path]?.version;
  return (
    Object.keys(present).every(same) &&
    [...packagesOf(["", ...needed], wanted)].every((path) => {
      const { optional, devOptional } = wanted[path];
      return same(path) || ((optional || devOptional) && !present[path]);
    })
  );
}

/** Paths of all packages that these folders need, at the places where Node finds them. */
function packagesOf(folders, wanted) {
  const found = new Set();
  const addAll = (from, names) => names.forEach((name) => add(placeOf(name, from, wanted)));
  const add = (path) => {
    if (path === null || found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies } = wanted[path];
    const isOptional = (name) => wanted[path].peerDependenciesMeta?.[name]?.optional === true;
    addAll(path, Object.keys({ ...dependencies, ...optionalDependencies }));
    addAll(
      path,
      Object.keys(peerDependencies ?? {}).filter((name) => !isOptional(name)),
    );
  };
  for (const folder of folders) addAll(folder, Object.keys(wanted[folder]?.devDependencies ?? {}));
  return found;
}

function placeOf(name, from, wanted) {
  const path = `${from}${from && "/"}node_modules/${name}`;
  if (wanted[path] !== undefined) return path;
  return from === "" ? null : placeOf(name, from.replace(/(^|\/)[^/]+$/, ""), wanted);
}

/** Workspaces already in a clone stay, so that a start after tests doesn't remove their packages. */
function workspaces(wanted, present) {
  const ofStart = packagesOf([""], wanted);
  const isThere = (name) =>
    `node_modules/${name}` in present && !ofStart.has(`node_modules/${name}`);
  return ["src/setup/node", "test"].filter(
    (folder) =>
      needed.includes(folder) || Object.keys(wanted[folder]?.devDependencies ?? {}).some(isThere),
  );
}

/** The newest change below a path, in epoch ms. Folders count too: a deleted file changes its folder. */
function newestIn(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path).reduce(
    (newest, name) => Math.max(newest, newestIn(join(path, name))),
    stat.mtimeMs,
  );
}

function isBuilt() {
  if (!existsSync(builtProgram)) return false;
  const built = statSync(builtStamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const inputs = ["src", "streams", "tsconfig.json", "package-lock.json"];
  return inputs.every((input) => newestIn(join(root, input)) < built);
}

function install(folders) {
  say("Installing packages (a minute or so, the first time) …");
  // npm writes its list last. An old one must not vouch for an interrupted install.
  rmSync(installedPackages, { force: true });
  const options = [
    "--loglevel=error",
    "--fetch-retry-mintimeout=2000",
    "--fetch-retry-maxtimeout=10000",
  ];
  const chosen =
    folders.length === 0
      ? ["--workspaces=false"]
      : [...folders.map((folder) => `--workspace=${folder}`), "--include-workspace-root"];
  if (npm("ci", "--no-audit", "--no-fund", ...chosen, ...options)) return;
  fail(
    "the packages could not be installed; npm says why above",
    "this step needs the npm registry: check the network, or npm's proxy and registry settings, and run the same command again",
  );
}

function build() {
  say("Building …");
  const startedAt = new Date();
  if (!npm("run", "--silent", "build")) fail("the build failed", "see the messages above");
  // A file saved while the build ran is newer than the stamp, so the next start builds again.
  writeFileSync(builtStamp, `${startedAt.toISOString()}\n`);
  utimesSync(builtStamp, startedAt, startedAt);
}

function checkNode() {
  const bundled = existsSync(join(root, "node_modules/node/bin/node"));
  if (bundled || !isOldNode) return;
  fail(
    `Node 24 or newer is needed, this is ${process.versions.node}, and the bundled one did not install`,
    "allow npm's install scripts (npm config set ignore-scripts false) and run npm ci, or install Node 24",
  );
}

const wanted = readPackages(join(root, "package-lock.json"));
if (wanted === null) fail("package-lock.json cannot be read", "git checkout package-lock.json");
const present = readPackages(installedPackages);
if (present === null || !isInstalled(wanted, present)) install(workspaces(wanted, present ?? {}));
checkNode();
if (!isBuilt()) build();
