import { lastValueFrom, NEVER, Subject, toArray } from "rxjs";
import type { RunnerEvent, StopReason } from "../../../streams/runs/runner.ts";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import { adoptRuns } from "../../../src/runtime/runners/adopt-runs.ts";
import type { ClusterRunner } from "../../../src/runtime/cluster/cluster-runner.ts";
import type { ClusterRunnerOptions } from "../../../src/runtime/cluster/cluster-runner-options.ts";
import { exitOf, messagesOf, until } from "../runners/contract.ts";
import { end, forever, log, processesOf } from "../runners/shell-runs.ts";
import { aCluster, aRequest, type TestCluster } from "./support.ts";

const entriesIn = (events: readonly RunnerEvent[]): readonly LogEntry[] =>
  events.flatMap((event) => (event.type === "output" ? [event.entry] : []));

/** Starts a run under a scheduler that is gone as soon as the run has said `last`. Resolves to the events until then. */
async function leftAfter(
  last: string,
  request: RunRequest,
  cluster: TestCluster,
  options: Partial<ClusterRunnerOptions> = {},
): Promise<readonly RunnerEvent[]> {
  const events: RunnerEvent[] = [];
  const runner = await cluster.start(options);
  await new Promise<void>((resolve, reject) => {
    runner.run(request, NEVER).subscribe({
      next: (event) => {
        events.push(event);
        if (messagesOf([event]).includes(last)) resolve();
      },
      complete: () => reject(new Error(`it ended before ${last}`)),
    });
  });
  // The run's last answer is on its way.
  await pause(100);
  await cluster.stop();
  return [...events];
}

/** The events of a run under the next scheduler, whose log has these entries. */
async function adopted(
  request: RunRequest,
  logged: readonly LogEntry[],
  runner: ClusterRunner,
  stop$: Subject<StopReason> = new Subject(),
): Promise<readonly RunnerEvent[]> {
  const { instanceId, item } = request;
  const read = () => Promise.resolve(logged.map((entry) => ({ id: "", entry })));
  const open = [{ item, instanceId, startedAt: 0, waitedMs: 0, leftByStop: false }];
  const [run] = await adoptRuns(open, [runner], { read });
  if (run === undefined) throw new Error("it is not found");
  return lastValueFrom(run.report(stop$).pipe(toArray()));
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const returned = (value: string) => `echo '{"type":"return","json":"${value}","more":false}'`;

test("a run continues under the next scheduler after its last logged line, with its returned value", async () => {
  const cluster = await aCluster();
  const script = [
    returned("1"),
    `echo '{"type":"status","text":"working"}'`,
    log("one"),
    "sleep 0.5",
    log("two"),
    "sleep 0.5",
    log("three"),
    end(),
  ];
  const request = aRequest(script.join("\n"));
  const before = await leftAfter("one", request, cluster);
  // The scheduler logs lines about the run, too.
  const { agent } = request;
  const warning = { level: 40, time: 6, msg: "host denied", agent: agent.name } as const;
  const after = await adopted(
    request,
    [...entriesIn(before), warning],
    await cluster.start({}, [request.instanceId]),
  );
  expect(messagesOf(after)).toEqual(["two", "three"]);
  expect(after).toContainEqual({ type: "status-text", text: "working" });
  expect(exitOf(after)).toMatchObject({ exitCode: 0, value: 1, usage: { tokens: 7 } });
  expect(entriesIn([...before, ...after]).map(({ seq }) => seq)).toEqual([3, 4, 5]);
  expect(cluster.engine.names()).toEqual([]);
  expect(await cluster.records.list()).toEqual([]);
});

test("a line that was logged and not acknowledged is not logged again", async () => {
  const cluster = await aCluster();
  const never = new Promise<boolean>(() => undefined);
  const request = aRequest(`${log("one")}; ${returned("2")}; ${log("two")}; sleep 3; ${end()}`);
  const before = await leftAfter("two", request, cluster, { flushLogs: () => never });
  const runner = await cluster.start({}, [request.instanceId]);
  const after = await adopted(request, entriesIn(before), runner);
  expect(messagesOf(after)).toEqual([]);
  expect(exitOf(after)).toMatchObject({ exitCode: 0, value: 2 });
});

test("a run continues under a third scheduler when the second stored no line", async () => {
  const cluster = await aCluster();
  const script = [returned("3"), log("one"), "sleep 1", log("two"), "sleep 0.5", end()];
  const request = aRequest(script.join("\n"));
  const before = await leftAfter("one", request, cluster);
  const second = await cluster.start({}, [request.instanceId]);
  void adopted(request, entriesIn(before), second);
  await pause(300);
  const third = await cluster.start({}, [request.instanceId]);
  const after = await adopted(request, entriesIn(before), third);
  expect(messagesOf(after)).toEqual(["two"]);
  expect(exitOf(after)).toMatchObject({ exitCode: 0, value: 3 });
});

test("a run that waits for a machine can be claimed from the next scheduler", async () => {
  const cluster = await aCluster({ begins: "later" });
  const request = aRequest("three-lines");
  (await cluster.start()).run(request, NEVER).subscribe();
  await until(() => Promise.resolve(cluster.engine.names().length > 0));
  const after = adopted(request, [], await cluster.start({}, [request.instanceId]));
  cluster.startAll();
  expect(messagesOf(await after)).toEqual(["one", "two", "three"]);
});

test("a waiting run that can't be prepared again is rejected", async () => {
  const cluster = await aCluster({ begins: "never" });
  const request = aRequest("three-lines");
  (await cluster.start()).run(request, NEVER).subscribe();
  await until(() => Promise.resolve(cluster.engine.names().length > 0));
  const prepare = () => Promise.reject(new Error("credential github_token is missing"));
  const after = await adopted(request, [], await cluster.start({ prepare }, [request.instanceId]));
  expect(exitOf(after).rejected).toBe("credential github_token is missing");
  expect(cluster.engine.names()).toEqual([]);
});

test("a run whose secrets can't be read continues without showing its output", async () => {
  const cluster = await aCluster();
  const request = aRequest(`${log("one")}; sleep 0.5; echo s3cret; ${end()}`);
  const before = await leftAfter("one", request, cluster);
  const prepare = () => Promise.reject(new Error("no credentials"));
  const after = await adopted(
    request,
    entriesIn(before),
    await cluster.start({ prepare }, [request.instanceId]),
  );
  expect(messagesOf(after)).toEqual(["(not shown, as its secrets are not known: no credentials)"]);
  expect(exitOf(after).exitCode).toBe(0);
});

test("a run can be stopped by the next scheduler", async () => {
  const cluster = await aCluster();
  const request = aRequest("ends-on-term");
  const before = await leftAfter("ready", request, cluster);
  const stop$ = new Subject<StopReason>();
  const after = adopted(
    request,
    entriesIn(before),
    await cluster.start({}, [request.instanceId]),
    stop$,
  );
  await pause(50);
  stop$.next("killed");
  expect(exitOf(await after).exitCode).toBe(143);
});

test("an adopted run has its lease from its start, whatever the new config says, and a fresh one", async () => {
  const cluster = await aCluster();
  const request = aRequest(`${log("ready")}; ${forever}`);
  const options = cluster.configured({ leaseSeconds: 6 });
  const before = await leftAfter("ready", request, cluster, options);
  // It does not reach the next one.
  const runner = await cluster.start({}, []);
  const since = performance.now();
  expect(exitOf(await adopted(request, entriesIn(before), runner))).toMatchObject({ lost: true });
  expect(performance.now() - since).toBeGreaterThan(5_950);
  expect(performance.now() - since).toBeLessThan(15_000);
  expect(await processesOf(request.instanceId)).toEqual([]);
});

test("an exit that the earlier scheduler stored and did not report is reported", async () => {
  const cluster = await aCluster();
  const request = aRequest(`${returned("4")}; ${end()}`);
  // Killed between the note and the report.
  const records = { ...cluster.records, write: notReturning(cluster) };
  (await cluster.start({ records })).run(request, NEVER).subscribe();
  await until(async () => (await cluster.records.read(request.instanceId))?.exit != null);
  const after = await adopted(request, [], await cluster.start({}, [request.instanceId]));
  expect(after).toHaveLength(1);
  expect(exitOf(after)).toMatchObject({ exitCode: 0, value: 4 });
  expect(await cluster.records.list()).toEqual([]);
});

test("an exit that the earlier scheduler reported and did not commit is reported again", async () => {
  const cluster = await aCluster();
  const request = aRequest(`${returned("5")}; ${end()}`);
  const recorded = () => new Promise(() => undefined);
  const reported = new Promise((resolve) => {
    void cluster.start({ recorded }).then((runner) =>
      runner.run(request, NEVER).subscribe((event) => {
        if (event.type === "exit") resolve(event);
      }),
    );
  });
  await reported;
  const after = await adopted(request, [], await cluster.start({}, [request.instanceId]));
  expect(after).toEqual([await reported]);
});

/** Writes records, and does not return once an exit is among them. */
function notReturning({ records }: TestCluster): ClusterRunnerOptions["records"]["write"] {
  return async (id, record) => {
    await records.write(id, record);
    if (record.exit !== null) await new Promise(() => undefined);
  };
}
