import type { StopReason } from "../../../streams/outcomes.ts";
import { once } from "node:events";
import { NEVER, Subject, tap } from "rxjs";
import { runName } from "../../../src/runtime/cluster/cluster-engine.ts";
import type { ClusterRunnerOptions } from "../../../src/runtime/cluster/cluster-runner-options.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import { Problem } from "../../../src/foundation/errors.ts";
import {
  collected,
  entriesOf,
  exitOf,
  messagesOf,
  runnerContract,
  whenReady,
} from "../runners/contract.ts";
import { aRequest, end, log, processesOf } from "../runners/shell-runs.ts";
import { openCluster, type TestCluster } from "./support.ts";
import { perTest } from "../../helpers/per-test.ts";
import { like } from "../../helpers/like.ts";

runnerContract("the cluster runner", async () => {
  const cluster = await openCluster();
  return {
    runner: await cluster.start(),
    request: aRequest,
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

const clusterOf = (options?: Parameters<typeof openCluster>[0]) =>
  perTest(
    () => openCluster(options),
    (cluster) => cluster.dispose(),
  );
const cluster = clusterOf();
const eventsOf = (title: string, options?: Partial<ClusterRunnerOptions>) =>
  cluster().eventsOf(aRequest(title), options);

describe("a run on a cluster", () => {
  test("gets its job by its claim, and its engine never sees it", async () => {
    const events = await eventsOf(`head -n 1 | grep -o '"prompt":"[a-z-]*"'; ${end()}`);
    expect(messagesOf(events)).toEqual([`"prompt":"the-job-text"`]);
    const [launch] = cluster().launches;
    expect(launch).toMatchObject({ image: "al-test", agent: "dev", reserve: { cpus: 0.05 } });
    expect(JSON.parse(launch?.ticket ?? "")).toEqual({
      door: like(/^127\.0\.0\.1:\d+$/),
      certificate: like(/^-----BEGIN CERTIFICATE-----/),
      name: launch?.name,
      ticket: like(/^[\w-]{20,}$/),
    });
    expect(JSON.stringify(launch)).not.toContain("the-job-text");
  });

  test("has the place and the limits of its agent, else of its project", async () => {
    const runtime = { type: "cluster", runAs: "", place: ["node.hostname==b"] } as const;
    const local = { memory: "1g", cpus: null, network: null, env: {} };
    const options = cluster().configured({ place: ["node.labels.zone==a"] });
    await eventsOf(end(), options);
    await cluster().eventsOf(aRequest(end(), { runtime, local }), options);
    expect(cluster().launches).toMatchObject([
      { place: ["node.labels.zone==a"], limits: { memory: "256m", cpus: 1, network: "none" } },
      { place: ["node.hostname==b"], limits: { memory: "1g", cpus: 1, network: "none" } },
    ]);
  });

  test("numbers its log, each line with its own time, without its secrets", async () => {
    const events = await eventsOf(`${log("a")}; echo s3cret; ${end("no s3cret")}; exit 1`);
    expect(entriesOf(events)).toMatchObject([
      { msg: "a", seq: 1, time: 5 },
      { msg: "***", seq: 2 },
    ]);
    expect(exitOf(events).error).toBe("no ***");
  });

  test("is rejected with the reason when it has no image", async () => {
    const imageFor = () => Promise.reject(new Error("no registry answers"));
    expect(exitOf(await eventsOf("true", { imageFor })).rejected).toBe("no registry answers");
  });

  test("keeps its lines while the log can't be written", async () => {
    let flushes = 0;
    const flushLogs = () => Promise.resolve((flushes += 1) > 3);
    const events = await eventsOf("three-lines", { flushLogs });
    expect(flushes).toBeGreaterThan(3);
    expect(messagesOf(events)).toEqual(["one", "two", "three"]);
  });

  test("is lost and ended when it is silent for longer than its lease, and its later lines are rejected", async () => {
    const request = aRequest(`${log("ready")}; sleep 600`);
    const { instanceId } = request;
    const runner = await cluster().start(cluster().configured({ leaseSeconds: 0.3 }));
    const frozen = whenReady(() => freeze(instanceId));
    const exit = exitOf(await collected(runner.run(request, NEVER).pipe(frozen)));
    expect(exit.lost).toBe(true);
    expect(exit.error).toMatch(/the run on "here" has not responded/);
    expect(await processesOf(instanceId)).toEqual([]);
    expect(cluster().engine.names()).toEqual([]);
    await expect(runner.remoteRuns.lines(instanceId, [])).rejects.toMatchObject({
      code: "unauthorized",
    });
  });

  test("is not looked up on its engine while it sends", async () => {
    const { lists } = cluster().engine;
    let listsBefore = -1;
    const runner = await cluster().start();
    const count = whenReady(() => (listsBefore = lists()));
    const request = aRequest(`${log("ready")}; sleep 0.5; ${end()}`);
    await collected(runner.run(request, NEVER).pipe(count));
    expect(lists()).toBe(listsBefore);
  });
});

describe("a run that waits for a machine", () => {
  const problem = "no suitable node (insufficient memory)";
  const waitingCluster = clusterOf({ begins: "never" });

  async function waiting(cluster: TestCluster, engineAway: Error | null = null) {
    const request = aRequest("three-lines");
    const events: RunnerEvent[] = [];
    const stop$ = new Subject<StopReason>();
    const runner = await cluster.start();
    cluster.engine.goAway(engineAway);
    const run$ = runner.run(request, stop$).pipe(tap((event) => events.push(event)));
    const exit = collected(run$).then(exitOf);
    const status = expect.poll(() => events.filter(({ type }) => type === "status-text").at(-1));
    return { name: runName(request.instanceId), runner, events, stop$, exit, status };
  }

  async function placed() {
    const { engine } = waitingCluster();
    const run = await waiting(waitingCluster());
    await expect.poll(() => engine.names()).toContain(run.name);
    return { ...run, engine };
  }

  test("shows why, or that its engine is away, and ends as soon as it is stopped", async () => {
    const { engine, name, status, stop$, exit } = await placed();
    engine.pretend(name, { problem });
    await status.toMatchObject({ text: `waits for a machine: ${problem}` });
    engine.goAway(new Error("no manager"));
    await status.toMatchObject({ text: like(/no manager/) });
    engine.goAway(null);
    stop$.next("killed");
    expect(await exit).toMatchObject({ signal: "SIGTERM", rejected: null });
    expect(engine.names()).toEqual([]);
  });

  test("is rejected with the engine's reason when waiting can't help", async () => {
    const { engine, name, exit } = await placed();
    engine.pretend(name, { problem: "no such image", isHopeless: true });
    expect((await exit).rejected).toBe("no such image");
  });

  test("waits for an engine that is away, and is rejected by one that refuses", async () => {
    const { engine } = cluster();
    const away = new Problem("engine_unreachable", "no manager answers");
    const { events, exit, runner, status } = await waiting(cluster(), away);
    await status.toMatchObject({ text: "waits for the cluster: no manager answers" });
    expect(events.filter(({ type }) => type !== "status-text")).toEqual([]);
    engine.goAway(null);
    expect(await exit).toMatchObject({ exitCode: 0, rejected: null });
    engine.goAway(new Problem("engine_refused", "no such network"));
    const refused = exitOf(await collected(runner.run(aRequest("exit-7"), NEVER)));
    expect(refused.rejected).toBe("no such network");
    engine.goAway(null);
  });

  test("has a paused timeout until a machine claims it", async () => {
    const clock: string[] = [];
    const pauseClock = () => {
      clock.push("paused");
      return () => clock.push("runs");
    };
    const onClaim = (_id: string, node: string) => clock.push(node);
    await eventsOf("three-lines", { pauseClock, onClaim });
    expect(clock).toEqual(["paused", "runs", "here"]);
  });
});

describe("the remains of runs on a cluster", () => {
  const waitingCluster = clusterOf({ begins: "never" });

  test("are removed when their engine is back", async () => {
    const { engine, records, start } = waitingCluster();
    const request = aRequest(end());
    const run = (await start()).run(request, NEVER).subscribe();
    await expect.poll(() => engine.names()).toHaveLength(1);
    engine.goAway(new Error("no manager"));
    const warned = once(process, "warning") as Promise<[Error]>;
    run.unsubscribe();
    expect((await warned)[0].message).toMatch(/stay on the cluster until it responds: no manager/);
    expect(await records.list()).toEqual([request.instanceId]);
    engine.goAway(null);
    await expect.poll(() => records.list()).toEqual([]);
    expect(engine.names()).toEqual([]);
  });

  test("are removed by the next scheduler, except for live runs", async () => {
    const { engine, records, start } = waitingCluster();
    const [left, found, started] = [aRequest(end()), aRequest(end()), aRequest(end())];
    const earlier = await start();
    for (const request of [left, found]) earlier.run(request, NEVER).subscribe();
    await expect.poll(() => engine.names()).toHaveLength(2);
    const { instanceId, agent } = found;
    const runner = await start({}, [instanceId]);
    expect(await runner.adopt([instanceId, "dev-other"])).toEqual([{ instanceId, agent }]);
    runner.run(started, NEVER).subscribe();
    await expect.poll(() => engine.names()).toHaveLength(3);
    await runner.reap();
    const kept = [instanceId, started.instanceId].toSorted();
    expect(engine.names().toSorted()).toEqual(kept.map(runName).toSorted());
    expect((await records.list()).toSorted()).toEqual(kept);
  });
});
