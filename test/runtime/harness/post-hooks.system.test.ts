import { symlinkSync } from "node:fs";
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeStopReason } from "../../../src/runtime/run-api/socket-dir.ts";
import type { Script } from "../../../src/foundation/contracts/job.ts";
import { lastHooksMs, stopReasons } from "../../../src/runtime/runners/run-stop.ts";
import { aJob, aScripted } from "./jobs.ts";
import { endMessageOf, logsOf, startRun } from "./run-entry.ts";

const asleep = { command: "touch asleep; sleep 60" };
const untilKilled: Script["turns"] = [{ tools: [{ name: "bash", arguments: asleep }] }];

let workDir: string;
let channelDir: string;
beforeEach(async () => {
  [workDir, channelDir] = (await Promise.all(
    ["al-post-", "al-channel-"].map((name) => mkdtemp(join(tmpdir(), name))),
  )) as [string, string];
  onTestFinished(async () => {
    for (const dir of [workDir, channelDir]) await rm(dir, { recursive: true, force: true });
  });
});

/** Resolves once the run left that file. */
const left = (name: string) =>
  expect
    .poll(() =>
      access(join(workDir, name)).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);

function start(post: readonly string[], turns: Script["turns"] = untilKilled) {
  const job = aJob(workDir, { models: [aScripted(turns)], hooks: { pre: [], post: [...post] } });
  // The reason is beside the socket by which the run reaches its models.
  const socket = join(channelDir, "channel.sock");
  symlinkSync(job.channel?.socket ?? "", socket);
  return startRun({ ...job, channel: { socket, token: job.channel?.token ?? "" } });
}

const outcome = () => readFile(join(workDir, "outcome"), "utf8");

test.each(stopReasons)(
  "the post hooks of a run that is asked to end run, and know that it was %s",
  async (reason) => {
    const { child, ended } = start(['echo "$AL_OUTCOME" > outcome']);
    await left("asleep");
    writeStopReason(channelDir, reason);
    child.kill("SIGTERM");
    const run = await ended;
    expect(await outcome()).toBe(`${reason}\n`);
    expect(run.exitCode).toBe(143);
    expect(endMessageOf(run).error).toBe("it was stopped before it was done");
  },
);

test("the post hooks of a run that is asked to end know that it was interrupted when the signal came from outside", async () => {
  const { child, ended } = start(['echo "$AL_OUTCOME" > outcome']);
  await left("asleep");
  child.kill("SIGTERM");
  await ended;
  expect(await outcome()).toBe("interrupted\n");
});

test(
  "the post hooks of a run that is asked to end are ended when they exceed their time",
  { timeout: 30_000 },
  async () => {
    const { child, ended } = start(["touch hooked; sleep 60", "touch never"]);
    await left("asleep");
    child.kill("SIGTERM");
    const before = performance.now();
    const run = await ended;
    expect(performance.now() - before).toBeGreaterThan(lastHooksMs - 100);
    expect(performance.now() - before).toBeLessThan(lastHooksMs + 5_000);
    expect(logsOf(run, "hook").map(({ msg }) => msg)).toContain(
      'post hook "touch hooked; sleep 60" was stopped',
    );
    await expect(access(join(workDir, "never"))).rejects.toThrow("ENOENT");
    expect(run.exitCode).toBe(143);
  },
);

test("the post hooks of a run that is asked to end finish when the end comes while they run: the run has succeeded", async () => {
  const wait = "touch hooked; until [ -e go ]; do sleep 0.05; done";
  const { child, ended } = start([wait, 'echo "$AL_OUTCOME" > outcome'], [{ text: "Done." }]);
  await left("hooked");
  child.kill("SIGTERM");
  await writeFile(join(workDir, "go"), "");
  const run = await ended;
  expect(await outcome()).toBe("succeeded\n");
  expect(run.exitCode).toBe(0);
  expect(endMessageOf(run).error).toBeNull();
});
