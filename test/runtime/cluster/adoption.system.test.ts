import type { StopReason } from "../../../streams/outcomes.ts";
import { filter, firstValueFrom, NEVER, ReplaySubject, Subject } from "rxjs";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import { adoptRuns } from "../../../src/runtime/runners/adopt-runs.ts";
import type { ClusterRunnerOptions } from "../../../src/runtime/cluster/cluster-runner-options.ts";
import { collected, entriesOf, exitOf, messagesOf } from "../runners/contract.ts";
import { aRequest, end, forever, log, processesOf } from "../runners/shell-runs.ts";
import { aCluster, openCluster } from "./support.ts";
import { pause } from "../../helpers/pause.ts";
import { perTest } from "../../helpers/per-test.ts";

const cluster = perTest(openCluster, (cluster) => cluster.dispose());

/** Starts a run under a scheduler that is gone as soon as the run has said `ready`. Resolves to its log until then. */
async function leave(
  request: RunRequest,
  options: Partial<ClusterRunnerOptions> = {},
): Promise<readonly LogEntry[]> {
  const events: RunnerEvent[] = [];
  const runner = await cluster().start(options);
  runner.run(request, NEVER).subscribe((event) => events.push(event));
  await expect.poll(() => messagesOf(events)).toContain("ready");
  await pause(100, "the run's last answer is on its way");
  await cluster().stop();
  return entriesOf(events);
}

/** The events of a run under the next scheduler, whose log has these entries. */
async function adopted(
  request: RunRequest,
  logged: readonly LogEntry[],
  options: Partial<ClusterRunnerOptions> = {},
  { stop$ = new Subject<StopReason>(), alive = [request.instanceId], on = cluster() } = {},
): Promise<readonly RunnerEvent[]> {
  const runner = await on.start(options, alive);
  const { instanceId, item } = request;
  const read = () => Promise.resolve(logged.map((entry) => ({ id: "", entry })));
  const open = [{ item, instanceId, startedAt: 0, waitedMs: 0, leftByStop: false }];
  const [run] = await adoptRuns(open, [runner], { read });
  if (run === undefined) throw new Error("it is not found");
  return collected(run.report(stop$));
}

const returned = (value: string) => `echo '{"type":"return","json":"${value}","more":false}'`;
const scriptOf = (...commands: readonly string[]) => aRequest([...commands, end()].join("\n"));
const unprepared = (why: string) => ({ prepare: () => Promise.reject(new Error(why)) });

describe("a run of an earlier scheduler", () => {
  test("continues after its last logged line, with its returned value", async () => {
    const request = scriptOf(
      returned("1"),
      `echo '{"type":"status","text":"working"}'`,
      log("ready"),
      ...["two", "three"].flatMap((line) => ["sleep 0.5", log(line)]),
    );
    const before = await leave(request);
    // The scheduler logs lines about the run, too.
    const warning = { level: 40, time: 6, msg: "host denied", agent: request.agent.name } as const;
    const after = await adopted(request, [...before, warning]);
    expect([...before, ...entriesOf(after)].map(({ msg, seq }) => [seq, msg])).toEqual([
      [3, "ready"],
      [4, "two"],
      [5, "three"],
    ]);
    expect(after).toContainEqual({ type: "status-text", text: "working" });
    expect(exitOf(after)).toMatchObject({ exitCode: 0, value: 1, usage: { tokens: 7 } });
    expect(cluster().engine.names()).toEqual([]);
    expect(await cluster().records.list()).toEqual([]);
  });

  test("continues without showing its output if its secrets can't be read", async () => {
    const request = scriptOf(log("ready"), "sleep 0.5", "echo s3cret");
    const before = await leave(request);
    const after = await adopted(request, before, unprepared("no credentials"));
    const hidden = "(not shown, because its secrets are unknown: no credentials)";
    expect(messagesOf(after)).toEqual([hidden]);
    expect(exitOf(after).exitCode).toBe(0);
  });

  test("can be stopped", async () => {
    const request = aRequest("ends-on-term");
    const before = await leave(request);
    const stop$ = new ReplaySubject<StopReason>();
    stop$.next("killed");
    expect(exitOf(await adopted(request, before, {}, { stop$ })).exitCode).toBe(143);
  });

  test("has the lease of its start, whatever the new config says", async () => {
    const request = aRequest(`${log("ready")}; ${forever}`);
    const before = await leave(request, cluster().configured({ leaseSeconds: 6 }));
    const since = performance.now();
    // It does not reach the next one.
    const after = await adopted(request, before, {}, { alive: [] });
    expect(exitOf(after)).toMatchObject({ lost: true });
    expect(performance.now() - since).toBeGreaterThan(5_950);
    expect(await processesOf(request.instanceId)).toEqual([]);
  });
});

describe("a run that waits for a machine", () => {
  async function waiting(begins: "later" | "never") {
    const cluster = await aCluster({ begins });
    const request = aRequest("three-lines");
    (await cluster.start()).run(request, NEVER).subscribe();
    await expect.poll(() => cluster.engine.names()).toHaveLength(1);
    return { cluster, request };
  }

  test("can be claimed from the next scheduler", async () => {
    const { cluster, request } = await waiting("later");
    const after = adopted(request, [], {}, { on: cluster });
    cluster.startAll();
    expect(messagesOf(await after)).toEqual(["one", "two", "three"]);
  });

  test("is rejected by the next scheduler if it can't be prepared again", async () => {
    const { cluster, request } = await waiting("never");
    const why = "credential github_token is missing";
    const after = await adopted(request, [], unprepared(why), { on: cluster });
    expect(exitOf(after).rejected).toBe(why);
    expect(cluster.engine.names()).toEqual([]);
  });
});

describe("the exit of a run", () => {
  test("that the earlier scheduler stored and did not report is reported", async () => {
    const request = scriptOf(returned("4"));
    const { records, start } = cluster();
    // Killed between the note and the report.
    const write: typeof records.write = async (id, record) => {
      await records.write(id, record);
      if (record.exit !== null) await new Promise(() => undefined);
    };
    (await start({ records: { ...records, write } })).run(request, NEVER).subscribe();
    const exit = async () => (await records.read(request.instanceId))?.exit;
    await expect.poll(exit).toMatchObject({ exit: { exitCode: 0 } });
    const after = await adopted(request, []);
    expect(after).toHaveLength(1);
    expect(exitOf(after)).toMatchObject({ exitCode: 0, value: 4 });
    expect(await records.list()).toEqual([]);
  });

  test("that the earlier scheduler reported and did not commit is reported again", async () => {
    const request = scriptOf(returned("5"));
    const runner = await cluster().start({ recorded: () => new Promise(() => undefined) });
    const exit = ({ type }: RunnerEvent) => type === "exit";
    const reported = await firstValueFrom(runner.run(request, NEVER).pipe(filter(exit)));
    expect(await adopted(request, [])).toEqual([reported]);
  });
});
