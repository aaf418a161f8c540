import { symlinkSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Script } from "../../../src/foundation/contracts/job.ts";
import { lastHooksMs } from "../../../src/runtime/wire/run-stop.ts";
import { aJob, aScripted } from "./jobs.ts";
import { endMessageOf, logsOf, startRun } from "./run-entry.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { perTest } from "../../helpers/per-test.ts";

const workDir = perTest(tempDir);
const channelDir = perTest(tempDir);

const asleep = { command: "touch asleep; sleep 600" };
const untilKilled: Script["turns"] = [{ tools: [{ name: "bash", arguments: asleep }] }];

/** Resolves once the run left that file. */
const left = (name: string) => expect.poll(() => readdir(workDir())).toContain(name);
const outcome = () => readFile(join(workDir(), "outcome"), "utf8");

/** Starts a run; it is asked to end once it has left the file. */
async function ended(post: string[], file = "asleep", turns = untilKilled) {
  const job = aJob(workDir(), { models: [aScripted(turns)], hooks: { pre: [], post } });
  // The reason is beside the socket by which the run reaches its models.
  const socket = join(channelDir(), "channel.sock");
  symlinkSync(job.channel?.socket ?? "", socket);
  const run = startRun({ ...job, channel: { socket, token: job.channel?.token ?? "" } });
  await left(file);
  run.child.kill("SIGTERM");
  return run.ended;
}

describe("the post hooks of a run that is asked to end", () => {
  test('get the reason "interrupted" if the signal came from outside', async () => {
    await ended(['echo "$AL_OUTCOME" > outcome']);
    expect(await outcome()).toBe("interrupted\n");
  });

  test("are ended when they exceed their timeout", async () => {
    const before = performance.now();
    const run = await ended(["touch hooked; sleep 600", "touch never"]);
    expect(performance.now() - before).toBeGreaterThan(lastHooksMs - 100);
    expect(logsOf(run, "hook").map(({ msg }) => msg)).toContain("post hook was stopped");
    expect(await readdir(workDir())).not.toContain("never");
    expect(run.exitCode).toBe(143);
  });

  test("finish if they are already running, and the run succeeds", async () => {
    const wait = "touch hooked; until [ -e go ]; do sleep 0.05; done";
    const run = ended([wait, 'echo "$AL_OUTCOME" > outcome'], "hooked", [{ text: "Done." }]);
    await left("hooked");
    await writeFile(join(workDir(), "go"), "");
    expect(await run).toMatchObject({ exitCode: 0 });
    expect(await outcome()).toBe("succeeded\n");
    expect(endMessageOf(await run).error).toBeNull();
  });
});
