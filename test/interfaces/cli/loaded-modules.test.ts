import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { builtAl, copyProject, startTestScheduler } from "../../helpers/scheduler.ts";
import { perTest } from "../../helpers/per-test.ts";

/**
 * How long a command takes to start is how much code it loads. That is counted here, for it is the same on every
 * machine: on two cores a file costs about 0.3 ms and a megabyte about 40 ms.
 */
const project = perTest(
  () => copyProject("examples/hello"),
  (copy) => copy.remove(),
);
const folder = perTest(
  () => mkdtempSync(join(tmpdir(), "al-loads-")),
  (path) => rmSync(path, { recursive: true }),
);
const listing = resolve(import.meta.dirname, "../../helpers/list-loads.ts");

function loadedBy(line: string, more: NodeJS.ProcessEnv = {}) {
  const list = join(folder(), "loaded");
  const env = { ...process.env, AL_HOME: project().home, AL_TEST_LOADS: list, ...more };
  const args = line.split(" ").filter((word) => word !== "");
  const options = { cwd: project().dir, env };
  spawnSync(process.execPath, ["--import", listing, builtAl, ...args], options);
  return readList(list);
}

/** Loads as `list-loads` writes them: no package from its own folder, and nothing of the live view off a terminal. */
function readList(list: string) {
  const lines = readFileSync(list, "utf8").split("\n");
  const files = lines
    .filter((line) => line.startsWith("file:"))
    .map((url) => fileURLToPath(url))
    .filter((file) => file !== listing);
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => /node_modules|\/live-view-/.test(file))).toEqual([]);
  return {
    files,
    count: files.length,
    bytes: files.reduce((sum, file) => sum + statSync(file).size, 0),
    /** Modules of Node itself. */
    own: lines.filter((line) => line.startsWith("NativeModule")),
    /** Paths of files, in order. */
    opened: lines.filter((line) => line.startsWith("opened ")).map((line) => line.slice(7)),
  };
}

test.each([
  // One of each module that declares commands: all are declared before the help of one is printed.
  ["--help", 250_000, 9],
  ["creds add --help", 250_000, 9],
  ["start --help", 250_000, 9],
  ["stat --help", 250_000, 9],
  ["completion --help", 250_000, 9],
  ["config", 2_000_000, Infinity],
  ["start --print-systemd", 2_000_000, Infinity],
  ["update --check", 2_000_000, Infinity],
  ["creds ls", 2_000_000, Infinity],
  ["stat", 2_000_000, Infinity],
  // An agent waits for this command.
  ["_agent al-status --help", 69_500, 12],
])("al %s loads less than %i bytes of code", (line, mostBytes, most) => {
  const { count, bytes } = loadedBy(line);
  expect(count).toBeLessThanOrEqual(most);
  expect(bytes).toBeLessThan(mostBytes);
});

test("a run's supervisor loads fewer than 6 files, under 40 kB", () => {
  const { count, bytes, own } = loadedBy("_run-agent one");
  expect(count).toBeLessThan(6);
  expect(bytes).toBeLessThan(40_000);
  expect(own.filter((name) => /http|undici|crypto/.test(name))).toEqual([]);
});

test("a run in the pi harness loads at most 22 files under 1.9 MB: one provider's client, no table of models", () => {
  const { files, bytes } = loadedBy("_run-agent one", { AL_INSTANCE: "1", AL_FILL_CACHE: "1" });
  const others = /[/](anthropic|google|mistral|openai-responses)[^/]*$|[.]models-/;
  expect(files.length).toBeLessThan(23);
  expect(files.some((file) => file.includes("/openai-completions-"))).toBe(true);
  expect(files.filter((file) => others.test(file))).toEqual([]);
  expect(bytes).toBeLessThan(1_900_000);
});

/** Loads of a scheduler that stops after `meanwhile`. */
async function loadedByStart(meanwhile = () => {}) {
  const list = join(folder(), "start");
  const env = { NODE_OPTIONS: `--import=${listing}`, AL_TEST_LOADS: list };
  const scheduler = await startTestScheduler(project(), { args: ["--headless"], env });
  meanwhile();
  await scheduler.stop();
  return readList(list);
}

test("al start loads at most 110 files and 3.66 MB, all in ASCII, and without undici", async () => {
  const { files, bytes, own, opened } = await loadedByStart(() => {
    // A command that asks the scheduler does without zod, and its table of plain text without Unicode.
    const stat = loadedBy("stat");
    expect(stat.count).toBeLessThan(34);
    expect(stat.bytes).toBeLessThan(252_000);
  });
  expect(files.length).toBeLessThanOrEqual(110);
  expect(bytes).toBeLessThan(3_660_000);
  // Each file of the project is read once.
  const read = opened.filter((path) => /\/(config\.toml|SKILL\.md)$/.test(path));
  expect(read).toContain(join(project().dir, "config.toml"));
  expect(read).toEqual([...new Set(read)]);
  // The SDK of MCP waits for the first connection to a server.
  const textOf = (file: string) => readFileSync(file, "utf8");
  expect(files.filter((file) => textOf(file).includes("modelcontextprotocol"))).toEqual([]);
  // The writer of certificates waits for the first run with a brokered secret, OpenTelemetry for [telemetry].
  expect(files.filter((file) => /\/(certificate|pipeline)-/.test(file))).toEqual([]);
  // Node keeps a text with any other character whole in two bytes each.
  expect(files.filter((file) => /[^\0-\x7f]/.test(textOf(file)))).toEqual([]);
  expect(own).toContain("NativeModule _http_server");
  expect(own.filter((name) => name.includes("undici"))).toEqual([]);
});

test("al start with [telemetry] loads one more file, under 100 kB", async () => {
  const config = '\n[telemetry]\notlp = "http://127.0.0.1:9"\n';
  await appendFile(join(project().dir, "config.toml"), config);
  const { files } = await loadedByStart();
  const more = files.filter((file) => file.includes("/pipeline-"));
  expect(more.map((file) => statSync(file).size < 100_000)).toEqual([true]);
});
