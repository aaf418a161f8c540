import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { builtAl } from "../../helpers/scheduler.ts";
import { sendLoad } from "../../features/webhooks/load.ts";
import { keyPath } from "../crash/crash-cycle.ts";
import { look, unfinished } from "../crash/crash-model.ts";
import { crashProject, type CrashProject } from "../crash/crash-project.ts";
import { fill } from "./fill-disk.ts";
import { delivery } from "./store-project.ts";
import { pause } from "../../helpers/pause.ts";

let project: CrashProject;
let child: ChildProcess | null = null;
const output = () => join(project.marks, "out", "log");
const isRoot = process.getuid?.() === 0;
const patience = { timeout: 60_000, interval: 100 };

beforeEach(async () => {
  project = await crashProject();
  mkdirSync(join(project.marks, "out"));
});
afterEach(async () => {
  child?.kill("SIGTERM");
  await new Promise((resolve) => child?.once("exit", resolve) ?? resolve(null));
  child = null;
  spawnSync("umount", [join(project.marks, "out")]);
  await project.remove();
});

/** A scheduler in a mount namespace of its own, whose output is a file; its gateway's URL. */
async function start(command: string): Promise<string> {
  const log = openSync(output(), "a");
  const al = [process.execPath, builtAl, "start", "--port", "0", "--project", project.dir];
  const env = { ...process.env, NO_COLOR: "1", AL_HOME: project.home };
  const args = ["-m", "sh", "-c", `${command} && exec "$@"`, "sh", ...al];
  child = spawn("unshare", args, { stdio: ["ignore", log, log], env });
  closeSync(log);
  const url = () => /^Gateway: +(\S+)$/m.exec(readFileSync(output(), "utf8"))?.[1];
  await expect.poll(url, { timeout: 90_000 }).toBeDefined();
  return url() ?? "";
}

async function deliver(url: string, from: number, count: number): Promise<void> {
  const requests = Array.from({ length: count }, (_, n) => delivery(from + n));
  const answers = await sendLoad(url, requests, count);
  expect(answers.map(({ status }) => status)).toEqual(Array(count).fill(200));
}

async function workerOf(url: string): Promise<unknown> {
  const authorization = `Bearer ${readFileSync(keyPath(project), "utf8").trim()}`;
  const answer = await fetch(`${url}/control/status`, { headers: { authorization } });
  const { agents } = (await answer.json()) as { agents: { name: string }[] };
  return agents.find(({ name }) => name === "worker");
}

test.runIf(isRoot)(
  "a full disk of /tmp/al-runs blocks the queue with an error, without counting an attempt of the work",
  async () => {
    mkdirSync("/tmp/al-runs", { recursive: true });
    const url = await start("mount -t tmpfs -o size=2m,mode=1777 tmpfs /tmp/al-runs");
    const filler = `/proc/${child?.pid}/root/tmp/al-runs/filler`;
    fill(filler);
    await deliver(url, 0, 6);
    const error = expect.stringContaining("no space left on the disk of /tmp/al-runs") as string;
    await expect.poll(() => workerOf(url), patience).toMatchObject({ state: "blocked", error });
    await pause(1000, "no attempt is spent meanwhile");
    expect(look(project).rows.map(({ state }) => state)).not.toContain("ended");
    rmSync(filler);
    await expect.poll(() => unfinished(look(project)), patience).toEqual([]);
    const { rows, ran } = look(project);
    expect(rows.map(({ outcome, attempt }) => [outcome, attempt])).toEqual(
      Array(6).fill(["succeeded", 1]),
    );
    expect(ran).toHaveLength(6);
    await expect.poll(() => workerOf(url), patience).toMatchObject({ state: "idle", error: null });
  },
  150_000,
);

test.runIf(isRoot)(
  "a scheduler whose output has no disk space keeps running, and writes again when there is space",
  async () => {
    const out = join(project.marks, "out");
    spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", out]);
    const url = await start("true");
    const filler = join(out, "filler");
    fill(filler);
    for (const from of [0, 6]) {
      await deliver(url, from, 6);
      await expect.poll(() => unfinished(look(project)), patience).toEqual([]);
    }
    rmSync(filler);
    const before = readFileSync(output(), "utf8").length;
    await deliver(url, 18, 1);
    const written = () => readFileSync(output(), "utf8").slice(before);
    await expect.poll(written, patience).toContain("run succeeded");
  },
  150_000,
);
