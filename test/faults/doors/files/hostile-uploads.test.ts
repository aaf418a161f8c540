import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commandAgents, until } from "../../../helpers/command-agents.ts";
import { forAll, slowly, type LiveProject } from "../../../helpers/live-project.ts";
import { pause } from "../../../helpers/pause.ts";
import { traceFiles, whyNoTrace } from "../file-trace.ts";
import { watchHealth } from "./health.ts";
import { endLine, fileLine, upload, type HostileRun, type Upload } from "./raw-upload.ts";

const noteJobs = new URL("./note-jobs.ts", import.meta.url).href;
const mebibyte = 1024 ** 2;

let project: LiveProject;
let pid: number;
let [hostile, other]: [HostileRun, HostileRun] = [
  { socket: "", token: "" },
  { socket: "", token: "" },
];

/** Two runs that live until the tests are over, and only one of which has a memory. */
forAll(async () => {
  project = await commandAgents((dir) => ({
    hostile: until(join(dir, "over")),
    other: until(join(dir, "over")),
  }));
  await project.append("agents/other/config.toml", '\n[memory]\nmaxBytes = "1m"\n');
  const jobs = project.path("../jobs");
  await writeFile(jobs, "");
  const env = { NODE_OPTIONS: `--import=${noteJobs}`, AL_JOBS_FILE: jobs };
  ({ pid } = await project.start({ env }));
  await project.trigger("hostile", "other");
  const noted = async () =>
    (await readFile(jobs, "utf8"))
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { agent: string; channel: HostileRun });
  await expect.poll(noted, slowly).toHaveLength(2);
  const of = async (name: string) => (await noted()).find(({ agent }) => agent === name)?.channel;
  [hostile, other] = [(await of("hostile")) ?? hostile, (await of("other")) ?? other];
});

/** So many times the same, without holding it. */
function* repeated(part: string | Buffer, times: number): Generator<string | Buffer> {
  for (let n = 0; n < times; n += 1) yield part;
}

function* numbered(count: number): Generator<string> {
  for (let n = 0; n < count; n += 1_000)
    yield Array.from({ length: 1_000 }, (_, i) => fileLine(`f${n + i}`)).join("");
}

const zeros = Buffer.alloc(mebibyte);
const text = (...parts: readonly string[]): Upload => {
  const body = Buffer.from(parts.join("") + endLine);
  return { body: [body], length: body.length };
};
const paths = (...names: readonly string[]) => text(...names.map((name) => fileLine(name)));

const refused: Readonly<Record<string, Upload>> = {
  "a link": text(fileLine("a", 0, { link: "/etc/passwd" })),
  "a device": text(fileLine("a", 0, { mode: 0o20666 })),
  "an owner": text(fileLine("a", 0, { uid: 0 })),
  "a name ..": paths("a/../../b"),
  "an absolute path": paths("/tmp/al-hostile"),
  "a path of nothing": paths(""),
  "an empty name": paths("a//b"),
  "a NUL": paths("a\0b"),
  "a line break": paths("a\nb"),
  "a backslash": paths("..\\b"),
  "half of a character": paths("a\ud800"),
  "two forms of one name": paths("\u00e9", "e\u0301"),
  "two cases of one name": paths("Name", "nAME"),
  "two cases of one folder": paths("A/x", "a/y"),
  "one file twice": paths("a", "a"),
  "a file below a file": paths("a", "a/b"),
  "a folder as a file": paths("a/b", "a"),
  "a long name": paths("n".repeat(300)),
  "a long path": paths(`${"a/".repeat(600)}b`),
  "a deep path": paths(`${"a/".repeat(200)}b`),
  "a size below zero": text(fileLine("a", -1)),
  "half of a byte": text(fileLine("a", 0.5)),
  "a size as text": text(fileLine("a", "0")),
  "no size": text(fileLine("a", null)),
  "a size beyond integers": text(fileLine("a", 2 ** 60)),
  "a sparse file of a terabyte": text(fileLine("a", 2 ** 40)),
  "a file larger than it says": text(fileLine("a", 1), "22", fileLine("b")),
  "a file smaller than it says": text(fileLine("a", 10_000), "2"),
  "bytes after its end": text(fileLine("a"), endLine, fileLine("b")),
  "no end": { body: [fileLine("a")], length: fileLine("a").length },
  "no JSON": text("{]\n"),
  "JSON of another kind": text("[1]\n"),
  "a key of prototypes": text('{"__proto__":{},"path":"a","bytes":0,"isExecutable":false}\n'),
  "a line without end": { body: repeated("x".repeat(65_536), 800) },
  "ten million entries": { body: numbered(10_000_000) },
  "a file that grows": { body: [fileLine("a", 1), ...repeated(zeros, 40)] },
  "many files of the largest size": {
    body: (function* () {
      for (let n = 0; n < 4; n += 1) {
        yield fileLine(`f${n}`, 30 * mebibyte);
        yield* repeated(zeros, 30);
      }
    })(),
  },
  "a body without a length": {
    body: [fileLine("a"), endLine],
    length: "Transfer-Encoding: chunked",
  },
  "a body longer than all files": { length: 2 ** 45 },
  "a length that is no number": { head: "Content-Length: 7\r\n" },
  "headers without end": { head: `X: ${"x".repeat(20_000)}\r\n` },
  "another method": { method: "POST" },
  "the tree of another run": { ...paths("a"), tree: "memory" },
  "no tree": { ...paths("a"), tree: "" },
  "a tree of a name ..": { ...paths("a"), tree: "../files/memory" },
  "a tree with escapes": { ...paths("a"), tree: "%2e%2e%2fout" },
  "a tree with a NUL": { ...paths("a"), tree: "out%00" },
  "a tree of a broken escape": { ...paths("a"), tree: "out%zz" },
  "a tree of another object": { ...paths("a"), tree: "__proto__" },
};

test.each(Object.entries(refused))("an upload with %s is refused", async (_what, given) => {
  expect(await upload(hostile, given)).toMatch(/^HTTP\/1\.1 4\d\d /);
});

test("a run can't send files with the token of another run, or to its socket", async () => {
  const mixed = [
    { ...hostile, token: other.token },
    { ...other, token: hostile.token },
    { ...hostile, token: "" },
  ];
  for (const run of mixed) expect(await upload(run, paths("a"))).toMatch(/^HTTP\/1\.1 401 /);
});

/** Uploads of every kind, one after the other, from so many connections. */
function attack(connections: number, signal: AbortSignal): void {
  const endless: readonly (() => Upload)[] = [
    () => ({
      body: [fileLine("big", 40 * mebibyte), randomBytes(mebibyte), ...repeated(zeros, 38)],
    }),
    () => text(fileLine("other", 9), randomBytes(9).toString("hex").slice(0, 9)),
    () => ({ body: numbered(10_000_000) }),
    () => ({ body: repeated("x".repeat(65_536), 800) }),
    () => ({ body: [fileLine("silent", 1_000)] }),
    () => ({ body: repeated("\n", 1), head: "Expect: 100-continue\r\n" }),
    () => ({ method: "GET", length: 0 }),
  ];
  const again = async (n: number): Promise<void> => {
    while (!signal.aborted) {
      await upload(hostile, (endless[n % endless.length] ?? endless[0])?.() ?? {}, signal);
      await pause(20, "the next one comes later");
    }
  };
  for (let n = 0; n < connections; n += 1) void again(n);
}

function storedMb(): number {
  const dir = join(project.dir, ".al", "blobs");
  const paths = readdirSync(dir, { recursive: true, encoding: "utf8" });
  const sizes = paths.map((path) => statSync(join(dir, path), { throwIfNoEntry: false })?.size);
  return sizes.reduce((sum: number, size = 0) => sum + size, 0) / mebibyte;
}

async function peakMb(): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

test("a hundred hostile uploads at once cost bounded memory and disk, and the scheduler answers others", async () => {
  await using stack = new AsyncDisposableStack();
  const over = new AbortController();
  stack.defer(() => over.abort());
  const health = await watchHealth(stack, project.scheduler.url);
  attack(100, over.signal);
  const before = await peakMb();
  await pause(20_000, "the attack goes on");
  const honest = await upload(other, text(fileLine("report.txt", 4), "done"));
  expect(honest).toMatch(/^HTTP\/1\.1 200 /);
  const [worst, peak, stored] = [health.worst(), await peakMb(), storedMb()];
  const slowest = Math.max(...health.samples.map(([ms]) => ms));
  process.stdout.write(
    `${health.samples.length} requests, slowest ${slowest.toFixed(0)} ms, ${worst.toFixed(0)} ms more than a bare one; ${before.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most; ${stored.toFixed(0)} MB stored\n`,
  );
  expect(worst).toBeLessThan(250);
  expect(peak).toBeLessThan(400);
  expect(stored).toBeLessThan(400);
}, 180_000);

test.skipIf(whyNoTrace() !== null)(
  "no hostile upload touches a path outside of the project's data",
  async () => {
    const trace = await traceFiles(pid);
    for (const given of Object.values(refused))
      if (typeof given.length === "number") await upload(hostile, given);
    const own = join(project.dir, ".al");
    const touched = (await trace.stop()).filter((path) => !path.startsWith(own));
    expect(touched.filter((path) => !/^\/(proc|sys|tmp\/al-[^/]+\/project)/.test(path))).toEqual(
      [],
    );
  },
  120_000,
);
