import { readdir } from "node:fs/promises";
import type { Script } from "../../../src/foundation/contracts/job.ts";
import { aJob, aScripted } from "./jobs.ts";
import { endMessageOf, logsOf, startRun } from "./run-entry.ts";
import { aFile, aTree, treeTest } from "./tree-side.ts";

const { side, workDir, stored } = treeTest();

const bash = (command: string): Script["turns"][number] => ({
  tools: [{ name: "bash", arguments: { command } }],
});
const report = bash("cat memory/notes > seen; mkdir out; echo report > out/report.md");

/** Starts the run's real process with a received memory and a folder that is sent. */
function start(turns: Script["turns"], post: readonly string[] = []) {
  side().trees.trees.set("memory", { notes: aFile("earlier\n") });
  const trees = [aTree("memory", { get: true }), aTree("out")];
  const { socket: path, token } = side().run;
  const models = [aScripted(turns)];
  const job = aJob(workDir(), { instanceId: "dev-1", models, trees, hooks: { pre: [], post } });
  return startRun({ ...job, channel: { socket: path, token } });
}

const left = (name: string) => expect.poll(() => readdir(workDir())).toContain(name);
const sent = { "report.md": aFile("report\n") };

describe("the files of a run", () => {
  test("are received before it begins, and sent after its post hooks", async () => {
    const turns = [report, bash("echo later >> memory/notes"), { text: "Done." }];
    const run = await start(turns, ["cp seen out/seen"]).ended;
    expect(endMessageOf(run).error).toBeNull();
    expect(stored()).toEqual({ ...sent, seen: aFile("earlier\n") });
    expect(side().trees.trees.get("memory")).toEqual({ notes: aFile("earlier\nlater\n") });
    expect(run.stderr).toBe("");
  });

  test("are sent if it fails, and a warning in its log names those that are left out", async () => {
    const run = await start([report, bash("ln -s /etc/passwd out/link; al-exit 3")]).ended;
    expect(endMessageOf(run).error).toContain("code 3");
    expect(stored()).toEqual(sent);
    expect(logsOf(run, "run").map(({ msg }) => msg)).toContain(
      "out: 1 file left out: link is a link",
    );
  });

  test("are sent if it is asked to end", async () => {
    const run = start([report, bash("touch asleep; sleep 600")]);
    await left("asleep");
    run.child.kill("SIGTERM");
    expect((await run.ended).exitCode).toBe(143);
    expect(stored()).toEqual(sent);
  });

  test("are not sent if its process is killed", async () => {
    // Ends with its parent.
    const run = start([report, bash("touch asleep; tail --pid=$PPID -f /dev/null")]);
    await left("asleep");
    run.child.kill("SIGKILL");
    await run.ended;
    expect(side().trees.uploads).toBe(0);
  });

  test("are sent to the next scheduler if it ends while none is up", async () => {
    const run = start([
      report,
      bash("touch asleep; until [ -e go ]; do sleep 0.05; done"),
      { text: "" },
    ]);
    await left("asleep");
    await side().stop();
    run.child.kill("SIGTERM");
    await side().start();
    await run.ended;
    expect(stored()).toEqual(sent);
  });
});
