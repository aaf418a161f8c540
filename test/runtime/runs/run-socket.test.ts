import { openStore } from "../../../src/features/open-store.ts";
import { hostGateway } from "../harness/model-host.ts";
import { noEgress } from "../run-api/no-egress.ts";
import { existsSync } from "node:fs";
import { asyncScheduler } from "rxjs";
import { createClock } from "../../../streams/clock.ts";
import type { Job } from "../../../src/foundation/contracts/job.ts";
import { createRedactor, type Redactor } from "../../../src/foundation/credentials/redactor.ts";
import { createRunApiClient } from "../../../src/runtime/harness/run-api/client.ts";
import { createRunSockets, type RunSockets } from "../../../src/runtime/run-api/run-sockets.ts";
import { ownBaseDir } from "../../../src/runtime/runners/host-user/base-dir.ts";
import { createLiveRuns } from "../../../src/runtime/runs/live-runs.ts";
import { runsDir } from "../../../src/runtime/runners/host-user/run-agent-program.ts";
import { isRemote, socketBaseDir } from "../../../src/start/runtimes.ts";
import { type Store } from "../../../src/foundation/store/store.ts";
import type { RuntimeConfig } from "../../../streams/agent-config.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { fakeAbilities } from "../../helpers/fake-abilities.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { eventsOf } from "../../streams/status/events.ts";

let project: string;
let store: Store;
let redactor: Redactor;
let problems: string[];
let opened: RunSockets[];

beforeEach(async () => {
  project = tempDir();
  await ownBaseDir(runsDir, false);
  store = openStore(project);
  [redactor, problems, opened] = [createRedactor(), [], []];
});
afterEach(async () => {
  await Promise.all(opened.map((sockets) => sockets.close()));
  store.close();
});

function aScheduler() {
  const sockets = createRunSockets({
    records: { local: store.channels, remote: store.remoteRuns },
    redactor,
    onProblem: (message) => problems.push(message),
  });
  opened.push(sockets);
  const runs = createLiveRuns({
    elapsed: () => 0,
    clock: createClock(asyncScheduler),
    refusalOf: () => null,
    redactValue: redactor.redactValue,
    freeze: () => Promise.resolve(),
    thaw: () => Promise.resolve(),
    openSocket: async ({ instanceId, agent }) =>
      isRemote(agent)
        ? sockets.openRemote(instanceId, `al-${instanceId}`)
        : sockets.open(instanceId, await socketBaseDir(agent, {})),
  });
  const abilities = fakeAbilities();
  sockets.serve({ runApi: abilities, models: hostGateway, egress: noEgress });
  const enter = (instanceId: string, type: RuntimeConfig["type"] = "host-user") => {
    const agent = anAgent("dev", { runtime: { type, runAs: "$USER" } });
    const item = anItem("1");
    runs.enter({ request: { instanceId, agent, item }, slot: null, waitedMs: 0 });
    const finish = (): void =>
      runs.onEvent(eventsOf("dev").finished("succeeded", null, 0, instanceId));
    return { run: runs.get(instanceId), finish };
  };
  return { sockets, runs, abilities, enter };
}

const unlock = (channel: Job["channel"]) =>
  createRunApiClient({ socket: "", token: "", ...channel }, 1).ask(
    "unlock",
    { resource: "x:y" },
    new AbortController().signal,
  );
const stored = () => expect.poll(() => store.channels.all());
const isThere = (path: string | null | undefined) => existsSync(path ?? "");

test("the scheduler opens a socket for each run, from the run's start to its end", async () => {
  const { run, finish } = aScheduler().enter("dev-1");
  const channel = await run.openSocket();
  const token = channel?.token ?? "";
  expect(redactor.redact(token)).toBe("[redacted]");
  expect(await unlock(channel)).toEqual({ ok: true });
  expect(store.channels.all()).toEqual([]);
  await run.begin();
  expect(store.channels.all()).toMatchObject([{ instanceId: "dev-1" }]);
  expect(JSON.stringify(store.channels.all())).not.toContain(token);
  finish();
  await expect.poll(() => isThere(run.socket?.dir)).toBe(false);
  // It is worth nothing any more, and as many as there were runs would make looking for them slow.
  expect(redactor.redact(token)).toBe(token);
  await stored().toEqual([]);
});

test("the scheduler opens a new socket for a retried run, and removes the first one", async () => {
  const { run } = aScheduler().enter("dev-1");
  const first = await run.openSocket();
  const second = await run.openSocket();
  await expect.poll(() => isThere(first?.socket)).toBe(false);
  expect(await unlock(second)).toEqual({ ok: true });
  expect(redactor.redact(first?.token ?? "")).toBe(first?.token);
});

test("the scheduler removes sockets of runs that end while they are prepared, and all sockets at its stop", async () => {
  const { sockets, runs, enter } = aScheduler();
  const { run, finish } = enter("dev-1");
  const opening = run.openSocket();
  finish();
  expect(isThere((await opening)?.socket)).toBe(false);
  const left = await enter("dev-2").run.openSocket();
  runs.removeSockets();
  await sockets.close();
  expect(isThere(left?.socket)).toBe(false);
  await stored().toEqual([]);
});

test("the scheduler stores the name of a run on another machine, without a socket folder", async () => {
  const { run, finish } = aScheduler().enter("dev-1", "cluster");
  const channel = await run.openSocket();
  const ticket = channel?.token ?? "";
  expect(channel?.socket).toBe("/run/al/channel.sock");
  expect(redactor.redact(ticket)).toBe("[redacted]");
  expect([run.socket?.dir, store.channels.all()]).toEqual([null, []]);
  expect(store.remoteRuns.all()).toMatchObject([{ name: "al-dev-1", tokenHash: null }]);
  expect(JSON.stringify(store.remoteRuns.all())).not.toContain(ticket);
  // The run's reason to end comes with its inbox.
  run.writeStopReason("killed");
  finish();
  expect(redactor.redact(ticket)).toBe(ticket);
  await expect.poll(() => store.remoteRuns.all()).toEqual([]);
  expect(problems).toEqual([]);
});

test("the scheduler removes only socket folders that it created, whatever paths are stored", async () => {
  await store.channels.add({ instanceId: "dev-1", tokenHash: "", dir: project });
  await aScheduler().sockets.restore(new Set());
  expect(isThere(project)).toBe(true);
  await stored().toEqual([]);
});

test("a restarted scheduler keeps the sockets of live runs, and removes others", async () => {
  const first = aScheduler();
  const [alive, gone] = [first.enter("dev-1").run, first.enter("dev-2").run];
  const channel = await alive.openSocket();
  await gone.openSocket();
  await Promise.all([alive.begin(), gone.begin()]);
  await first.sockets.close();
  const { sockets, runs, enter, abilities } = aScheduler();
  runs.adoptSockets(await sockets.restore(new Set(["dev-1"])));
  // The job is only made again for the secrets in it.
  expect(await enter("dev-1").run.openSocket()).toBeNull();
  expect(await unlock(channel)).toEqual({ ok: true });
  expect(abilities.asked).toMatchObject([{ instanceId: "dev-1" }]);
  expect(isThere(gone.socket?.dir)).toBe(false);
  await stored().toMatchObject([{ instanceId: "dev-1" }]);
  expect(problems).toEqual([]);
});
