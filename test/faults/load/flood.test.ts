import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { residentMb } from "../../bench/with-scheduler.ts";
import { LiveProject } from "../../helpers/live-project.ts";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import { dueAt, putAgent } from "../files/live.ts";
import { isLong } from "../../helpers/long.ts";

/** How much each agent prints, in MB: AL_FLOOD_MB=10000 is the whole flood. */
const floodMb = Number(process.env.AL_FLOOD_MB ?? (isLong ? "1000" : "100"));
const flood = `yes "$(head -c 1000 /dev/zero | tr '\\0' y)" | head -c ${floodMb}000000`;
const endless = `head -c ${floodMb}000000 /dev/zero | tr '\\0' z`;
const timeoutMs = 60_000 + floodMb * 100;

let project: LiveProject;

/** Starts a scheduler with an agent of this config, and looks at it while it runs once. */
async function runOnce(config: string): Promise<{ grewMb: number; slowestMs: number }> {
  project = new LiveProject(await webhookProject());
  await project.write(
    "done.script.toml",
    `[[turns]]\n[[turns.tools]]\nname = "bash"\narguments = { command = ${JSON.stringify(flood)} }\n[[turns]]\ntext = "done"\n`,
  );
  await putAgent(project, "loud", dueAt(1, config));
  const { pid } = await project.start();
  const before = await residentMb(pid);
  await project.trigger("loud");
  let [most, slowestMs] = [before, 0];
  const isDone = async (): Promise<boolean> => {
    const began = performance.now();
    const { lastOutcome, running } = (await project.agent("loud")) ?? {};
    slowestMs = Math.max(slowestMs, performance.now() - began);
    most = Math.max(most, await residentMb(pid));
    return running === 0 && lastOutcome !== null && lastOutcome !== undefined;
  };
  await expect.poll(isDone, { timeout: timeoutMs, interval: 100 }).toBe(true);
  return { grewMb: most - before, slowestMs };
}

/** Everything below the project's folder and its home. */
async function bytesKept(): Promise<number> {
  const files = await readdir(join(project.dir, ".."), { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => stat(join(parentPath, name)).then(({ size }) => size));
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function logText(): Promise<string> {
  const dir = join(project.dir, ".al/logs");
  const names = (await readdir(dir)).filter((name) => name.startsWith("loud-"));
  return (await Promise.all(names.map((name) => readFile(join(dir, name), "utf8")))).join("");
}

test.each([
  [
    "in a hook",
    `hooks.pre = [${JSON.stringify(`${flood}; al-exit`)}]\n`,
    /more lines of output left out/,
  ],
  [
    "in one line without an end",
    `hooks.pre = [${JSON.stringify(`${endless}; al-exit`)}]\n`,
    /z{100}/,
  ],
  ["in a tool of its model", "", /y{100}/],
])(
  "an agent that floods %s uses bounded memory and disk",
  async (...of) => {
    const [where, config, traces] = of;
    const { grewMb, slowestMs } = await runOnce(config);
    const kept = (await bytesKept()) / 1_000_000;
    process.stdout.write(
      `${where}: +${grewMb.toFixed(0)} MB, ${kept.toFixed(1)} MB kept, slowest answer ${slowestMs.toFixed(0)} ms\n`,
    );
    expect((await project.agent("loud"))?.lastOutcome).toBe("succeeded");
    expect(grewMb).toBeLessThan(100);
    expect(kept).toBeLessThan(10);
    const log = await logText();
    expect(log).toMatch(traces);
    expect(Math.max(...log.split("\n").map(({ length }) => length))).toBeLessThan(32 * 1024);
  },
  timeoutMs,
);
