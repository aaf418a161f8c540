import { once } from "node:events";
import { lastValueFrom, NEVER, Subject, tap } from "rxjs";
import { runName } from "../../../src/runtime/cluster/cluster-engine.ts";
import type { RunnerEvent, StopReason } from "../../../streams/runs/runner.ts";
import { UserError } from "../../../src/foundation/errors.ts";
import { exitOf, messagesOf, runnerContract, until } from "../runners/contract.ts";
import { end, forever, log, processesOf } from "../runners/shell-runs.ts";
import { aCluster, aRequest, openCluster } from "./support.ts";

runnerContract("the cluster runner", async () => {
  const cluster = await openCluster();
  return {
    runner: await cluster.start(),
    request: (scenario) => aRequest(scenario),
    leftovers: async (id) => [
      ...(await processesOf(id)),
      ...cluster.engine.names().filter((name) => name === runName(id)),
      ...(await cluster.records.list()).filter((one) => one === id),
    ],
    dispose: cluster.dispose,
  };
});

/** As if its machine stood still: it neither sends nor ends itself. */
async function freeze(instanceId: string): Promise<void> {
  for (const each of await processesOf(instanceId)) {
    process.kill(Number(each.replace("process ", "")), "SIGSTOP");
  }
}

test("a run on a cluster gets its job by its claim, and its engine never sees it", async () => {
  const cluster = await aCluster();
  const request = aRequest(`head -n 1 | grep -o '"prompt":"[a-z-]*"'; ${end()}`);
  const events = await cluster.eventsOf(request);
  expect(messagesOf(events)).toEqual([`"prompt":"the-job-text"`]);
  const [launch] = cluster.launches;
  expect(launch).toMatchObject({ image: "al-test", agent: "dev", reserve: { cpus: 0.05 } });
  expect(JSON.parse(launch?.ticket ?? "")).toEqual({
    door: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string,
    certificate: expect.stringMatching(/^-----BEGIN CERTIFICATE-----/) as string,
    name: launch?.name,
    ticket: expect.stringMatching(/^[\w-]{20,}$/) as string,
  });
  expect(JSON.stringify(launch)).not.toContain("the-job-text");
});

test("a run on a cluster has the place and the limits of its agent, else of its project", async () => {
  const cluster = await aCluster();
  const runtime = { type: "cluster", runAs: "", place: ["node.hostname==b"] } as const;
  const local = { memory: "1g", cpus: null, network: null, env: {} };
  const options = cluster.configured({ place: ["node.labels.zone==a"] });
  await cluster.eventsOf(aRequest(end()), options);
  await cluster.eventsOf(aRequest(end(), { runtime, local }), options);
  expect(cluster.launches).toMatchObject([
    { place: ["node.labels.zone==a"], limits: { memory: "256m", cpus: 1, network: "none" } },
    { place: ["node.hostname==b"], limits: { memory: "1g", cpus: 1, network: "none" } },
  ]);
});

test("a run on a cluster numbers its log, each line with its own time", async () => {
  const events = await (await aCluster()).eventsOf(aRequest(`${log("a")}; echo raw; ${end()}`));
  const entries = events.flatMap((event) => (event.type === "output" ? [event.entry] : []));
  expect(entries).toMatchObject([
    { msg: "a", seq: 1, time: 5 },
    { msg: "raw", seq: 2 },
  ]);
});

test("a run on a cluster has its secrets removed from its output", async () => {
  const events = await (
    await aCluster()
  ).eventsOf(aRequest(`echo s3cret; ${end("no s3cret")}; exit 1`));
  expect(JSON.stringify(events)).not.toContain("s3cret");
  expect(exitOf(events).error).toBe("no ***");
});

test("a run on a cluster is rejected with the reason when its job or its image is missing", async () => {
  const why = () => Promise.reject(new Error("credential github_token is missing"));
  const noJob = exitOf(await (await aCluster()).eventsOf(aRequest("true"), { prepare: why }));
  expect(noJob.rejected).toBe("credential github_token is missing");
  const noImage = exitOf(await (await aCluster()).eventsOf(aRequest("true"), { imageFor: why }));
  expect(noImage.rejected).toBe("credential github_token is missing");
});

test("a run on a cluster keeps its lines while the log can't be written", async () => {
  let isFull = true;
  setTimeout(() => (isFull = false), 2_000);
  const flushLogs = () => Promise.resolve(!isFull);
  const events = await (await aCluster()).eventsOf(aRequest("three-lines"), { flushLogs });
  expect(isFull, "the run was over before its lines were stored").toBe(false);
  expect(messagesOf(events)).toEqual(["one", "two", "three"]);
});

test("a run on a cluster is lost, ended and rejected when it is silent for longer than its lease", async () => {
  const cluster = await aCluster();
  const { instanceId, ...request } = aRequest(`${log("ready")}; ${forever}`);
  const runner = await cluster.start(cluster.configured({ leaseSeconds: 0.3 }));
  const run$ = runner.run({ ...request, instanceId }, NEVER).pipe(
    tap((event) => {
      if (event.type === "output") void freeze(instanceId);
    }),
  );
  const exit = exitOf([await lastValueFrom(run$)]);
  expect(exit.lost).toBe(true);
  expect(exit.error).toMatch(/the run on "here" was not heard from/);
  expect(await processesOf(instanceId)).toEqual([]);
  expect(cluster.engine.names()).toEqual([]);
  await expect(runner.remoteRuns.lines(instanceId, [])).rejects.toMatchObject({
    problem: { error: "unauthorized" },
  });
});

test("a run on a cluster is not looked up on its engine while it sends", async () => {
  const cluster = await aCluster();
  const request = aRequest(`${log("a")}; sleep 0.5; ${end()}`);
  const { lists } = cluster.engine;
  let listsBefore = -1;
  const run$ = (await cluster.start()).run(request, NEVER).pipe(
    tap((event) => {
      if (event.type === "output") listsBefore = lists();
    }),
  );
  await lastValueFrom(run$);
  expect(lists()).toBe(listsBefore);
});

const problem = "no suitable node (insufficient memory)";

async function waiting() {
  const cluster = await aCluster({ begins: "never" });
  const request = aRequest(end());
  const events: RunnerEvent[] = [];
  const stop$ = new Subject<StopReason>();
  const runner = await cluster.start();
  const over = lastValueFrom(runner.run(request, stop$).pipe(tap((event) => events.push(event))));
  const name = runName(request.instanceId);
  await until(() => Promise.resolve(cluster.engine.names().includes(name)));
  return { cluster, name, events, stop$, exit: async () => exitOf([await over]) };
}

test("a run that waits for a machine shows why, and ends as soon as it is stopped", async () => {
  const { cluster, name, events, stop$, exit } = await waiting();
  cluster.engine.pretend(name, { problem });
  const text = `waits for a machine: ${problem}`;
  await until(() => Promise.resolve(events.some((event) => event.type === "status-text")));
  expect(events).toEqual([{ type: "ready" }, { type: "status-text", text }]);
  stop$.next("killed");
  expect(await exit()).toMatchObject({ signal: "SIGTERM", rejected: null });
  expect(cluster.engine.names()).toEqual([]);
});

test("a run that waits for a machine is rejected with the engine's reason when waiting can't help", async () => {
  const { cluster, name, exit } = await waiting();
  cluster.engine.pretend(name, { problem: "no such image", isHopeless: true });
  expect((await exit()).rejected).toBe("no such image");
});

test("a run that waits for a machine shows that its engine is away, and begins when it is back", async () => {
  const { cluster, events, stop$, exit } = await waiting();
  cluster.engine.goAway(new Error("no manager"));
  await until(() => Promise.resolve(events.some((event) => event.type === "status-text")));
  expect(events.at(-1)).toMatchObject({ text: expect.stringMatching(/no manager/) as string });
  cluster.engine.goAway(null);
  stop$.next("killed");
  await exit();
});

test("a run that waits for a machine waits for an engine that is away at its start, and is rejected by one that refuses", async () => {
  const cluster = await aCluster();
  const runner = await cluster.start();
  cluster.engine.goAway(new UserError("engine_unreachable", "no manager answers"));
  const events: RunnerEvent[] = [];
  const over = lastValueFrom(
    runner.run(aRequest("three-lines"), NEVER).pipe(tap((event) => events.push(event))),
  );
  await until(() => Promise.resolve(events.length > 0));
  const text = "waits for the cluster: no manager answers";
  expect(events).toEqual([{ type: "status-text", text }]);
  cluster.engine.goAway(null);
  expect(exitOf([await over])).toMatchObject({ exitCode: 0, rejected: null });
  cluster.engine.goAway(new UserError("engine_refused", "no such network"));
  const refused = exitOf([await lastValueFrom(runner.run(aRequest("exit-7"), NEVER))]);
  expect(refused.rejected).toBe("no such network");
  cluster.engine.goAway(null);
});

test("a run that waits for a machine has a paused clock until a machine has it", async () => {
  const clock: string[] = [];
  const pauseClock = () => {
    clock.push("paused");
    return () => clock.push("runs");
  };
  const onClaim = (_id: string, node: string) => clock.push(node);
  await (await aCluster()).eventsOf(aRequest("three-lines"), { pauseClock, onClaim });
  expect(clock).toEqual(["paused", "runs", "here"]);
});

test("the remains of runs on a cluster are removed when their engine is back", async () => {
  const cluster = await aCluster({ begins: "never" });
  const request = aRequest(end());
  const run = (await cluster.start()).run(request, NEVER).subscribe();
  await until(() => Promise.resolve(cluster.engine.names().length > 0));
  cluster.engine.goAway(new Error("no manager"));
  const warned = once(process, "warning") as Promise<[Error]>;
  run.unsubscribe();
  expect((await warned)[0].message).toMatch(/stays on the cluster until it answers: no manager/);
  expect(await cluster.records.list()).toEqual([request.instanceId]);
  cluster.engine.goAway(null);
  await until(async () => (await cluster.records.list()).length === 0);
  expect(cluster.engine.names()).toEqual([]);
});

test("the remains of runs on a cluster are removed by the next scheduler, except for live runs", async () => {
  const cluster = await aCluster({ begins: "never" });
  const [left, found, started] = [aRequest(end()), aRequest(end()), aRequest(end())];
  const earlier = await cluster.start();
  for (const request of [left, found]) earlier.run(request, NEVER).subscribe();
  await until(() => Promise.resolve(cluster.engine.names().length === 2));
  const runner = await cluster.start({}, [found.instanceId]);
  expect(await runner.adopt([found.instanceId, "dev-other"])).toEqual([
    { instanceId: found.instanceId, agent: found.agent },
  ]);
  runner.run(started, NEVER).subscribe();
  await until(() => Promise.resolve(cluster.engine.names().length === 3));
  await runner.reap();
  const names = [found, started].map(({ instanceId }) => runName(instanceId));
  expect(cluster.engine.names().toSorted()).toEqual(names.toSorted());
  const kept = [found.instanceId, started.instanceId];
  expect((await cluster.records.list()).toSorted()).toEqual(kept.toSorted());
});
