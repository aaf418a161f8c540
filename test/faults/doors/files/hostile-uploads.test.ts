import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commandAgents, until } from "../../../helpers/command-agents.ts";
import { slowly } from "../../../helpers/live-project.ts";
import { pause } from "../../../helpers/pause.ts";
import { watchHealth } from "./health.ts";
import { endLine, fileLine, upload, type HostileRun, type Upload } from "./raw-upload.ts";

const inside = new URL("./inside-scheduler.ts", import.meta.url).href;
const mebibyte = 1024 ** 2;
const zeros = Buffer.alloc(mebibyte);

/** Two runs that live until the test is over, only one of which has a memory. */
async function twoRuns() {
  const project = await commandAgents((dir) => ({
    hostile: until(join(dir, "over")),
    other: until(join(dir, "over")),
  }));
  for (const agent of ["hostile", "other"])
    await project.edit(`agents/${agent}/config.toml`, "timeout = 120", "timeout = 3600");
  await project.append("agents/other/config.toml", "\n[memory]\n");
  const jobs = project.path("../jobs");
  await writeFile(jobs, "");
  const env = { NODE_OPTIONS: `--import=${inside}`, AL_JOBS_FILE: jobs };
  const { pid, url } = await project.start({ env });
  await project.trigger("hostile", "other");
  const noted = async () => (await readFile(jobs, "utf8")).trim().split("\n");
  await expect.poll(noted).toHaveLength(2);
  const all = (await noted()).map(
    (line) => JSON.parse(line) as { agent: string; channel: HostileRun },
  );
  const runOf = (name: string) => all.find(({ agent }) => agent === name)?.channel as HostileRun;
  return { project, jobs, pid, url, hostile: runOf("hostile"), other: runOf("other") };
}

const text = (...parts: readonly string[]): Upload => {
  const body = Buffer.from(parts.join("") + endLine);
  return { body: [body], length: body.length };
};
const paths = (...names: readonly string[]) => text(...names.map((name) => fileLine(name)));
const repeated = (part: string | Buffer, times: number) => Array<string | Buffer>(times).fill(part);

function* numbered(count: number): Generator<string> {
  for (let n = 0; n < count; n += 1_000)
    yield Array.from({ length: 1_000 }, (_, i) => fileLine(`f${n + i}`)).join("");
}

function* largeFiles(): Generator<string | Buffer> {
  for (let n = 0; n < 4; n += 1) {
    yield fileLine(`f${n}`, 8 * mebibyte);
    yield randomBytes(mebibyte);
    yield* repeated(zeros, 7);
  }
  yield "broken\n";
}

/** No upload of these may be taken. */
const forged: Readonly<Record<string, () => Upload>> = {
  "a link": () => text(fileLine("a", 0, { link: "/etc/passwd" })),
  "a name ..": () => paths("../../../escaped"),
  "an absolute path": () => paths("/tmp/al-escaped"),
  "a NUL": () => paths("a\0b"),
  "a case pair": () => paths("Name/x", "nAME/y"),
  "a sparse file of a terabyte": () => text(fileLine("a", 2 ** 40)),
  "a file that grows": () => ({ body: [fileLine("a", 1), ...repeated(zeros, 40)] }),
  "a file that shrinks": () => text(fileLine("a", 10_000), "2"),
  "ten million entries": () => ({ body: numbered(10_000_000) }),
  "a line without end": () => ({ body: repeated("x".repeat(65_536), 800) }),
  "large files before a breach": () => ({ body: largeFiles() }),
  "a large file without its end": () => ({
    body: [fileLine("a", 49 * mebibyte), ...repeated(zeros, 48)],
  }),
  silence: () => ({ body: [fileLine("silent", 1_000)] }),
  "a body without a length": () => ({ length: "Transfer-Encoding: chunked" }),
  "a head without end": () => ({ head: `X: ${"x".repeat(20_000)}\r\n` }),
  "the tree of another run": () => ({ ...paths("a"), tree: "memory" }),
  "a tree of a name ..": () => ({ ...paths("a"), tree: "..%2fother%2fmemory" }),
  "a tree of every object": () => ({ ...paths("a"), tree: "__proto__" }),
};

function storedMb(dir: string): number {
  const files = readdirSync(dir, { recursive: true, encoding: "utf8" });
  const sizes = files.map((path) => statSync(join(dir, path), { throwIfNoEntry: false })?.size);
  return sizes.reduce((sum: number, size = 0) => sum + size, 0) / mebibyte;
}

/** Entries of the project's folder beside its data. */
const besideData = (dir: string) =>
  readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((path) => !path.startsWith(".al"));

test("a hundred hostile uploads at once cost bounded memory and disk, leave nothing outside of their tree, and delay no other request", async () => {
  await using stack = new AsyncDisposableStack();
  const { project, jobs, pid, url, hostile, other } = await twoRuns();
  // Written anew: a start takes longer turns.
  await writeFile(`${jobs}.turns`, "");
  const before = besideData(project.dir);
  const over = new AbortController();
  stack.defer(() => over.abort());
  const times = await watchHealth(stack, url);
  const taken = new Set<string>();
  const attacks = [
    ...Object.entries(forged).map(([name, make]) => [name, hostile, make] as const),
    ["the token of another run", { ...hostile, token: other.token }, () => paths("a")],
    ["the socket of another run", { ...other, token: hostile.token }, () => paths("a")],
  ] as const;
  const again = async (n: number): Promise<void> => {
    for (let at = n; !over.signal.aborted; at += 1) {
      const [name, run, make] = attacks[at % attacks.length] ?? attacks[0];
      if (/^HTTP\/1\.1 2/.test(await upload(run, make(), over.signal))) taken.add(name);
      await pause(20, "the next one comes later");
    }
  };
  for (let n = 0; n < 100; n += 1) void again(n);
  await pause(20_000, "the attack goes on");
  const honest = await upload(other, text(fileLine("report.txt", 4), "done"));
  expect(honest).toMatch(/^HTTP\/1\.1 200 /);

  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const peakMb = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  const stored = storedMb(join(project.dir, ".al", "blobs"));
  const turns = (await readFile(`${jobs}.turns`, "utf8")).split("\n").map(Number);
  const [usual = 0, slowest = 0] = [0.95, 1].map((part) =>
    times.toSorted((a, b) => a - b).at(Math.ceil(part * times.length) - 1),
  );
  process.stdout.write(
    `${times.length} requests, 95 % within ${usual.toFixed(0)} ms, all within ${slowest.toFixed(0)} ms, longest turn ${Math.max(...turns)} ms of CPU; at most ${peakMb.toFixed(0)} MB; ${stored.toFixed(0)} MB stored\n`,
  );
  expect([...taken]).toEqual([]);
  expect(besideData(project.dir)).toEqual(before);
  over.abort();
  await project.write("over", "");
  for (const agent of ["hostile", "other"])
    await expect.poll(async () => (await project.latest(agent))?.outcome, slowly).toBe("succeeded");
  expect(peakMb).toBeLessThan(350);
  expect(stored).toBeLessThan(400);
  // A machine that is busy with other work delays single requests, but not the scheduler's own turns.
  expect(usual).toBeLessThan(250);
  expect(Math.max(...turns)).toBeLessThan(250);
}, 180_000);
