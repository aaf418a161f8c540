import { hostGateway } from "../harness/model-host.ts";
import { noEgress } from "../run-api/no-egress.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { asyncScheduler } from "rxjs";
import { createClock } from "../../../streams/clock.ts";
import type { Job } from "../../../src/foundation/contracts/job.ts";
import { createRedactor, type Redactor } from "../../../src/foundation/credentials/redactor.ts";
import { createRunApiClient } from "../../../src/runtime/harness/run-api/client.ts";
import { createRunSockets } from "../../../src/runtime/run-api/run-sockets.ts";
import { ownBaseDir } from "../../../src/runtime/runners/host-user/base-dir.ts";
import { createLiveRuns } from "../../../src/runtime/runs/live-runs.ts";
import { runsDir } from "../../../src/runtime/runners/host-user/run-agent-program.ts";
import { isRemote, socketBaseDir } from "../../../src/start/runtimes.ts";
import { openStore, type Store } from "../../../src/foundation/store/store.ts";
import type { RuntimeConfig } from "../../../streams/agent-config.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { fakeAbilities } from "../../helpers/fake-abilities.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

let project: string;
let store: Store;
let redactor: Redactor;
let problems: string[];

beforeEach(async () => {
  project = tempDir();
  await ownBaseDir(runsDir, false);
  store = openStore(project);
  [redactor, problems] = [createRedactor(), []];
});
afterEach(() => store.close());

function aScheduler() {
  const sockets = createRunSockets({
    records: { local: store.channels, remote: store.remoteRuns },
    redactor,
    onProblem: (message) => problems.push(message),
  });
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
        : sockets.open(instanceId, await socketBaseDir(agent)),
  });
  const abilities = fakeAbilities();
  sockets.serve({ runApi: abilities, models: hostGateway, egress: noEgress });
  const enter = (request: RunRequest) => {
    runs.enter({ request, slot: null, waitedMs: 0 });
    return runs.get(request.instanceId);
  };
  const finish = ({ instanceId, agent, item }: RunRequest): void => {
    const end = { outcome: "succeeded", reason: null, exitCode: 0, usage: null } as const;
    const at = { agent: agent.name, at: 0, startedAt: 0 };
    runs.onEvent({ ...at, type: "finished", item, instanceId, end });
  };
  return { sockets, runs, abilities, enter, finish };
}

function aRequest(instanceId: string, type: RuntimeConfig["type"] = "host-user"): RunRequest {
  const agent = anAgent("dev", { runtime: { type, runAs: "$USER" } });
  return { instanceId, agent, item: anItem("1") };
}

const unlock = (channel: Job["channel"]) =>
  createRunApiClient({ socket: "", token: "", ...channel }, 1).ask(
    "unlock",
    { resource: "x:y" },
    new AbortController().signal,
  );

test("the scheduler gives each run a socket of its own, from its start to its end", async () => {
  const { sockets, enter, finish } = aScheduler();
  const request = aRequest("dev-1");
  const run = enter(request);
  const channel = await run.openSocket();
  const token = channel?.token ?? "";
  expect(redactor.redact(token)).toBe("[redacted]");
  expect(await unlock(channel)).toEqual({ ok: true });
  expect(store.channels.all()).toEqual([]);
  await run.begin();
  expect(store.channels.all()).toMatchObject([{ instanceId: "dev-1" }]);
  expect(JSON.stringify(store.channels.all())).not.toContain(channel?.token);
  finish(request);
  await expect.poll(() => existsSync(run.socket?.dir ?? "")).toBe(false);
  // It is worth nothing any more, and as many as there were runs would make looking for them slow.
  expect(redactor.redact(token)).toBe(token);
  await expect.poll(() => store.channels.all()).toEqual([]);
  await sockets.close();
});

test("the scheduler gives a restarted run another one, and forgets the first", async () => {
  const { sockets, enter, finish } = aScheduler();
  const request = aRequest("dev-1");
  const run = enter(request);
  const first = await run.openSocket();
  const second = await run.openSocket();
  await expect.poll(() => existsSync(first?.socket ?? "")).toBe(false);
  expect(await unlock(second)).toEqual({ ok: true });
  expect(redactor.redact(first?.token ?? "")).toBe(first?.token);
  finish(request);
  await sockets.close();
});

test("the scheduler removes the socket of a run that ended while it was prepared, and of runs that left the graph", async () => {
  const { sockets, runs, enter, finish } = aScheduler();
  const request = aRequest("dev-1");
  const run = enter(request);
  const opening = run.openSocket();
  finish(request);
  expect(existsSync((await opening)?.socket ?? "")).toBe(false);
  const left = await enter(aRequest("dev-2")).openSocket();
  runs.removeSockets();
  await sockets.close();
  expect(existsSync(left?.socket ?? "")).toBe(false);
  await expect.poll(() => store.channels.all()).toEqual([]);
});

test("the scheduler names the path as a container sees it", async () => {
  const { sockets, enter, finish } = aScheduler();
  const request = aRequest("dev-1", "container");
  const run = enter(request);
  const channel = await run.openSocket();
  expect(channel?.socket).toBe("/run/al/channel.sock");
  expect(existsSync(join(run.socket?.dir ?? "", "channel.sock"))).toBe(true);
  finish(request);
  await sockets.close();
});

test("expects a run on another machine by its name, with a ticket and without a folder", async () => {
  const { sockets, enter, finish } = aScheduler();
  const request = aRequest("dev-1", "cluster");
  const run = enter(request);
  const channel = await run.openSocket();
  const ticket = channel?.token ?? "";
  expect(channel?.socket).toBe("/run/al/channel.sock");
  expect(redactor.redact(ticket)).toBe("[redacted]");
  expect(run.socket?.dir).toBeNull();
  expect(store.channels.all()).toEqual([]);
  expect(store.remoteRuns.all()).toMatchObject([{ name: "al-dev-1", tokenHash: null }]);
  expect(JSON.stringify(store.remoteRuns.all())).not.toContain(ticket);
  // The run's reason to end comes with its inbox.
  run.writeStopReason("killed");
  finish(request);
  expect(redactor.redact(ticket)).toBe(ticket);
  await expect.poll(() => store.remoteRuns.all()).toEqual([]);
  expect(problems).toEqual([]);
  await sockets.close();
});

test("the scheduler removes only folders that it made, whatever is recorded", async () => {
  await store.channels.add({ instanceId: "dev-1", tokenHash: "", dir: project });
  const { sockets } = aScheduler();
  await sockets.restore(new Set());
  expect(existsSync(project)).toBe(true);
  await expect.poll(() => store.channels.all()).toEqual([]);
  await sockets.close();
});

test("the scheduler serves live runs at their old path, and removes the remains of others", async () => {
  const first = aScheduler();
  const alive = aRequest("dev-1");
  const lives = first.enter(alive);
  const channel = await lives.openSocket();
  const gone = first.enter(aRequest("dev-2"));
  await gone.openSocket();
  await Promise.all([lives.begin(), gone.begin()]);
  await first.sockets.close();
  const second = aScheduler();
  second.runs.adoptSockets(await second.sockets.restore(new Set(["dev-1"])));
  // The job is only made again for the secrets in it.
  expect(await second.enter(alive).openSocket()).toBeNull();
  expect(await unlock(channel)).toEqual({ ok: true });
  expect(second.abilities.asked).toMatchObject([{ instanceId: "dev-1" }]);
  expect(existsSync(gone.socket?.dir ?? "")).toBe(false);
  await expect.poll(() => store.channels.all()).toMatchObject([{ instanceId: "dev-1" }]);
  second.finish(alive);
  expect(problems).toEqual([]);
  await second.sockets.close();
});
