import { chmod } from "node:fs/promises";
import { containersOfProject, removeAll } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { forAll, type LiveProject } from "../helpers/live-project.ts";
import { tempUser, whyNoOsUsers } from "../helpers/os-users.ts";
import { addScripted, bash, scriptedAgents } from "../helpers/scripted-agents.ts";
import { pause } from "../helpers/pause.ts";
import { clockAhead } from "../helpers/scheduler.ts";
import { realPrograms } from "../runtime/harness/llm-cli/real-programs.ts";
import { askingProject, openQuestions, ticksOf, toolResults } from "./asking-project.ts";
import type { AskingOptions } from "./asking-project.ts";

vi.setConfig({ testTimeout: 150_000 });
const { engine, missing } = await testEngine();
const bin = await realPrograms();
const patience = { timeout: 90_000 };

let askers: readonly string[];
let project: LiveProject;

/** Starts a project whose agents pi and, if it is here, claude have asked; returns how to close their provider. */
async function started(options: AskingOptions): Promise<() => Promise<void>> {
  askers = options.bin === null ? ["pi"] : ["claude", "pi"];
  const { project: made, provider } = await askingProject(options);
  project = made;
  for (const path of ["..", "../bin"])
    await chmod(project.path(path), 0o755).catch(() => undefined);
  await project.start();
  await ask();
  return () => provider.close();
}
const opened = async () => [...(await openQuestions(project)).keys()].sort();

/** Lets all ask; they leave the only slot to the other agent. */
async function ask(): Promise<void> {
  expect(await project.trigger(...askers)).toEqual(askers.map(() => 202));
  await vi.waitFor(async () => expect(await opened()).toEqual(askers), patience);
  await project.print("run", "other");
}

/** Answers after a crash of the scheduler and a day: each session goes on. */
async function expectAnsweredAfterADay(): Promise<void> {
  await project.crash({ env: clockAhead(86_400_000) });
  await expect.poll(opened, patience).toEqual(askers);
  if (askers.includes("claude")) await pause(9_500, "a day of claude's shell passes");
  for (const [agent, { id, instanceId }] of await openQuestions(project)) {
    await project.print("answer", id, "yes");
    const ended = { outcome: "succeeded", attempt: 1, instanceId };
    await expect.poll(() => project.latest(agent), patience).toMatchObject(ended);
    expect(await project.history(`agent=${agent}&kind=manual`)).toHaveLength(1);
    expect((await project.messages(agent, "said")).at(-1)).toBe("Done.");
    expect(await toolResults(project, agent)).toEqual([expect.stringMatching(/answer\W+yes/)]);
  }
}

describe.skipIf(whyNoOsUsers() !== null)("host-user runs that ask a person", () => {
  let close: () => Promise<void>;
  forAll(async () => {
    const user = await tempUser();
    const runtimes = ["$USER", user.name].map((name) => `type = "host-user"\nrun_as = "${name}"`);
    const [pi = "", claude = ""] = runtimes;
    const closeProvider = await started({ bin, runtimes: [pi, claude] });
    close = async () => {
      await closeProvider();
      await user.remove();
    };
  });
  afterAll(() => close());

  test("wait without a slot and without CPU", async () => {
    for (const { instanceId } of (await openQuestions(project)).values()) {
      const usedMs = async () => {
        const before = await ticksOf(instanceId);
        await pause(3_000, "a run that waits uses no CPU meanwhile");
        return ((await ticksOf(instanceId)) - before) * 10;
      };
      // claude first writes down what it has done; it uses some CPU itself. A run that polls uses it all.
      await expect.poll(usedMs, patience).toBeLessThan(300);
    }
  });

  test("resume their sessions with an answer after a crash of the scheduler and a day", () =>
    expectAnsweredAfterADay());
});

test("a run whose session ends while al-ask still waits in its shell is unanswered", async () => {
  const own = await scriptedAgents({});
  const untilGo = `until [ -e ${own.path("go")} ]; do sleep 0.1; done`;
  const turns = bash(`al-ask "Deploy 1.4?" </dev/null >/dev/null 2>&1 & ${untilGo}`);
  await addScripted(own, "asker", { turns });
  await own.start();
  await own.trigger("asker");
  await expect.poll(async () => (await openQuestions(own)).size, patience).toBe(1);
  await own.write("go", "");
  await expect.poll(() => own.latest("asker"), patience).toMatchObject({ outcome: "unanswered" });
});

describe.skipIf(missing !== null)("runs in containers that ask a person", () => {
  let close: () => Promise<void>;
  forAll(async () => {
    await defaultTestImage(engine);
    const runtimes = ['type = "container"', 'type = "container"'] as const;
    close = await started({ bin: null, runtimes });
  }, engineSetupMs);
  afterAll(async () => {
    await project.scheduler.stop();
    await removeAll(engine, project.dir);
    await close();
  });

  test("wait without a slot, paused and without CPU", async () => {
    const ids = await containersOfProject(engine, project.dir);
    const containers = ids.map((id) => engine.calls().getContainer(id));
    const paused = async () =>
      (await Promise.all(containers.map((one) => one.inspect()))).map(({ State }) => State.Paused);
    const usage = async () => {
      const all = await Promise.all(containers.map((one) => one.stats({ stream: false })));
      return all.map(({ cpu_stats }) => cpu_stats.cpu_usage.total_usage);
    };
    await expect.poll(paused, patience).toEqual(askers.map(() => true));
    const before = await usage();
    await pause(3_000, "a paused container uses no CPU meanwhile");
    expect(await usage()).toEqual(before);
  });

  test("resume their sessions with an answer after a crash of the scheduler and a day", () =>
    expectAnsweredAfterADay());
});
