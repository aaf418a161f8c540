import { existsSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom, NEVER, toArray } from "rxjs";
import type { Job, Script } from "../../../../src/foundation/contracts/job.ts";
import { createContainerRunner } from "../../../../src/runtime/runners/container/container-runner.ts";
import type { AgentImages } from "../../../../src/runtime/runners/container/images.ts";
import { runEnd } from "../../../../streams/runs/outcome.ts";
import { socketSide, openSocket } from "../../run-api/support.ts";
import type { SocketOfRun, SocketSide } from "../../run-api/support.ts";
import { exitOf, messagesOf } from "../contract.ts";
import { aJob, aScripted, type JobOptions } from "../../harness/jobs.ts";
import { hostDir } from "../../harness/model-host.ts";
import { anItem } from "../../../helpers/agents.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../../../helpers/docker.ts";
import { aProject, aRequest, containersOf, eventsOf, memoryRecords } from "./support.ts";

const { engine, missing } = await testEngine();
const programDir = join(import.meta.dirname, "../../../..");

test("the built program exists, or these tests would prove nothing", () =>
  expect(existsSync(join(programDir, "dist/src/cli/al.js"))).toBe(true));

describe.skipIf(missing !== null)("a real session in a container without network", () => {
  let images: AgentImages;
  beforeAll(async () => {
    images = await defaultTestImage(engine);
  }, engineSetupMs);

  async function events(turns: Script["turns"], side: SocketSide | null = null) {
    const request = aRequest("dev");
    const { instanceId } = request;
    const channel = side === null ? null : await openSocket(side, instanceId);
    const runner = createContainerRunner({
      engine,
      images,
      projectDir: aProject(),
      local: () => ({ memory: "512m", cpus: 2, network: "none" }),
      prepare: (_request, workDir) =>
        Promise.resolve(jobIn(workDir, { instanceId, models: [aScripted(turns)] }, channel)),
      controlDir: () => channel?.dir ?? hostDir,
      redactorFor: () => (text) => text.replaceAll("s3cret", "***"),
      onCooldown: () => undefined,
      records: memoryRecords(),
      graceMs: 5000,
    });
    const all = await lastValueFrom(runner.run(request, NEVER).pipe(toArray()));
    return { instanceId, token: channel?.token, all };
  }

  /** The folder of its socket is mounted in the container. */
  function jobIn(workDir: string, job: JobOptions, channel: SocketOfRun | null): Job {
    const made = aJob(workDir, job);
    const socket = channel === null ? "/run/al/run.sock" : "/run/al/channel.sock";
    const token = channel?.token ?? made.channel?.token ?? "";
    return { ...made, channel: { socket, token } };
  }

  const bash = (command: string) => ({ name: "bash", arguments: { command } });

  test("is reported from its first words to its usage, and leaves nothing", async () => {
    const command = "id -u; pwd; ls /usr/local/bin/al; ls -d /root; echo s3cret; git --version";
    const said = { text: "Looking.", tools: [bash(command)] };
    const { instanceId, all } = await events([said, { text: "All done." }]);
    const messages = messagesOf(all);
    expect(messages.indexOf("Looking.")).toBeGreaterThanOrEqual(0);
    expect(messages.indexOf("Looking.")).toBeLessThan(messages.indexOf("All done."));
    const text = JSON.stringify(all);
    expect(text).toContain("10001\\n/workspace\\n/usr/local/bin/al");
    expect(text).toContain("git version");
    expect(text).toContain("***");
    expect(text).not.toContain("s3cret");
    const exit = exitOf(all);
    expect(exit.usage?.tokens).toBeGreaterThan(0);
    expect(runEnd(exit, null, { agent: { timeoutSeconds: 900 }, item: anItem("1") })).toMatchObject(
      { outcome: "succeeded", exitCode: 0 },
    );
    expect(await containersOf(engine, instanceId)).toEqual([]);
  });

  test("starts from compiled code in the image, though it can write none", async () => {
    const rehearse = "AL_INSTANCE=build AL_FILL_CACHE=1 al _run-agent build";
    const script = `NODE_DEBUG_NATIVE=COMPILE_CACHE ${rehearse} >/tmp/log 2>&1; grep -c 'reading cache' /tmp/log; grep -c 'was accepted' /tmp/log`;
    const all = await eventsOf(engine, aRequest("dev"), {
      images,
      local: () => ({ memory: "512m", cpus: 2, network: "none" }),
      command: () => ({ file: "/bin/sh", args: ["-c", script] }),
    });
    expect(exitOf(all).exitCode).toBe(0);
    const [loaded = "", accepted] = messagesOf(all);
    expect(Number(loaded)).toBeGreaterThan(10);
    expect(accepted).toBe(loaded);
  });

  test("makes requests by tools and by commands, over its socket", async () => {
    const side = await socketSide();
    const resource = "file:/data/report";
    const look =
      "bash -lc 'command -v rlock'; env; ls /run/al; stat -c %A /run/al/channel.sock; touch /run/al/x";
    const turns = [
      { tools: [{ name: "al_lock", arguments: { resource } }] },
      { tools: [bash(`rlock ${resource} --wait 2; al-return '[7]'; ${look}`)] },
      { tools: [bash("al-exit 3; sleep 30")] },
    ];
    const { all, token } = await events(turns, side);
    await side.remove();
    expect(side.abilities.asked.map(({ request }) => request)).toEqual([
      { resource },
      { resource, waitSeconds: 2 },
    ]);
    const text = JSON.stringify(all);
    expect(text).toContain("/usr/local/bin/rlock");
    expect(text).toContain("srw-rw-rw-");
    expect(text).toContain("Read-only file system");
    expect(text).not.toContain(token);
    expect(exitOf(all)).toMatchObject({ exitCode: 3, value: [7] });
    expect(
      runEnd(exitOf(all), null, { agent: { timeoutSeconds: 900 }, item: anItem("1") }),
    ).toMatchObject({ outcome: "failed", exitCode: 3 });
  });
});
