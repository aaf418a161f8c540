import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { builtAl, copyProject, startTestScheduler } from "../../helpers/scheduler.ts";
import { perFile } from "../../helpers/per-test.ts";

/**
 * How long a command takes to start is how much code it loads. That is counted here, for it is the same on every
 * machine: on two cores a file costs about 0.3 ms and a megabyte about 40 ms.
 */
const project = perFile(
  () => copyProject("examples/hello"),
  (copy) => copy.remove(),
);
const folder = perFile(
  () => mkdtempSync(join(tmpdir(), "al-loads-")),
  (path) => rmSync(path, { recursive: true }),
);

const listing = resolve(import.meta.dirname, "../../helpers/list-loads.ts");

interface Loaded {
  /** Files of the built program and its packages. */
  readonly files: readonly string[];
  readonly bytes: number;
  /** Modules of Node itself. */
  readonly own: readonly string[];
  /** Paths of files, in order. */
  readonly opened: readonly string[];
}

function loadedBy(args: readonly string[], more: NodeJS.ProcessEnv = {}): Loaded {
  const list = join(folder(), "loaded");
  const env = { ...process.env, AL_HOME: project().home, AL_TEST_LOADS: list, ...more };
  const options = { cwd: project().dir, env };
  spawnSync(process.execPath, ["--import", listing, builtAl, ...args], options);
  return readList(list);
}

function readList(list: string): Loaded {
  const lines = readFileSync(list, "utf8").split("\n");
  const files = lines
    .filter((line) => line.startsWith("file:"))
    .map((url) => fileURLToPath(url))
    .filter((file) => file !== listing);
  return {
    files,
    bytes: files.reduce((sum, file) => sum + statSync(file).size, 0),
    own: lines.filter((line) => line.startsWith("NativeModule")),
    opened: lines.filter((line) => line.startsWith("opened ")).map((line) => line.slice(7)),
  };
}

// One of each module that declares commands: all are declared before the help of one is printed.
test.each(["", "creds add", "start", "stat", "completion"])(
  "the modules loaded by help of al %s: a few files, and no package",
  (name) => {
    const { files, bytes } = loadedBy([...name.split(" "), "--help"].filter((word) => word !== ""));
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => file.includes("node_modules"))).toEqual([]);
    expect(files.length).toBeLessThan(9);
    expect(bytes).toBeLessThan(250_000);
  },
);

test.each([["config"], ["start --print-systemd"], ["update --check"], ["creds ls"], ["stat"]])(
  "the modules loaded by %s: no package from its own folder, under 2 MB",
  (command) => {
    const { files, bytes } = loadedBy(command.split(" "));
    expect(files.filter((file) => file.includes("node_modules"))).toEqual([]);
    expect(bytes).toBeLessThan(2_000_000);
  },
);

test("a command of an agent loads few modules, as its agent waits", () => {
  const { files, bytes } = loadedBy(["_agent", "al-status", "--help"]);
  expect(files.length).toBeLessThan(13);
  expect(bytes).toBeLessThan(61_000);
});

test("the supervisor of a run: a file of its own, under 40 kB with the entry", () => {
  const { files, bytes, own } = loadedBy(["_run-agent", "one"]);
  expect(files.length).toBeLessThan(6);
  expect(bytes).toBeLessThan(40_000);
  expect(own.filter((name) => /http|undici|crypto/.test(name))).toEqual([]);
});

test("a run in pi: 22 files at most, the client of one provider, no table of models, under 1.9 MB", () => {
  const { files, bytes } = loadedBy(["_run-agent", "one"], {
    AL_INSTANCE: "1",
    AL_FILL_CACHE: "1",
  });
  const others = /[/](anthropic|google|mistral|openai-responses)[^/]*$|[.]models-/;
  expect(files.length).toBeLessThan(23);
  expect(files.some((file) => file.includes("/openai-completions-"))).toBe(true);
  expect(files.filter((file) => others.test(file))).toEqual([]);
  expect(files.filter((file) => file.includes("node_modules"))).toEqual([]);
  expect(bytes).toBeLessThan(1_900_000);
});

test("a start: 95 files and 3.3 MB at most, of texts that take one byte a character, and no undici", async () => {
  const list = join(folder(), "start");
  const env = { NODE_OPTIONS: `--import=${listing}`, AL_TEST_LOADS: list };
  const scheduler = await startTestScheduler(project(), { args: ["--headless"], env });
  const stat = loadedBy(["stat"]);
  await scheduler.stop();
  // A command that asks the scheduler does without zod, and its table of plain text without Unicode.
  expect(stat.files.length).toBeLessThan(34);
  expect(stat.bytes).toBeLessThan(250_000);
  const { files, bytes, own, opened } = readList(list);
  expect(files.length).toBeLessThanOrEqual(95);
  // Each file of the project is read once.
  const read = opened.filter((path) => /\/(config\.toml|SKILL\.md)$/.test(path));
  expect(read).toContain(join(project().dir, "config.toml"));
  expect(read).toEqual([...new Set(read)]);
  expect(files.filter((file) => file.includes("node_modules"))).toEqual([]);
  expect(bytes).toBeLessThan(3_300_000);
  // The SDK of MCP waits for the first connection to a server.
  const hasMcp = (file: string) => readFileSync(file, "utf8").includes("modelcontextprotocol");
  expect(files.filter(hasMcp)).toEqual([]);
  // What writes certificates waits for the first run with a brokered secret.
  expect(files.filter((file) => file.includes("/certificate-"))).toEqual([]);
  // OpenTelemetry waits for [telemetry].
  expect(files.filter((file) => file.includes("/pipeline-"))).toEqual([]);
  // Node keeps a text with any other character whole in two bytes each.
  const isWide = (file: string) => /[^\0-\x7f]/.test(readFileSync(file, "utf8"));
  expect(files.filter(isWide)).toEqual([]);
  expect(own).toContain("NativeModule _http_server");
  expect(own.filter((name) => name.includes("undici"))).toEqual([]);
});

test("a start with [telemetry]: one file of under 100 kB more", async () => {
  const list = join(folder(), "traced");
  const env = { NODE_OPTIONS: `--import=${listing}`, AL_TEST_LOADS: list };
  await appendFile(
    join(project().dir, "config.toml"),
    '\n[telemetry]\notlp = "http://127.0.0.1:9"\n',
  );
  const scheduler = await startTestScheduler(project(), { args: ["--headless"], env });
  await scheduler.stop();
  const { files } = readList(list);
  const more = files.filter((file) => file.includes("/pipeline-"));
  expect(more.map((file) => statSync(file).size < 100_000)).toEqual([true]);
});
