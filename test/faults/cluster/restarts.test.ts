import { NEVER, type Observable } from "rxjs";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import { adoptRuns } from "../../../src/runtime/runners/adopt-runs.ts";
import type { ClusterRunner } from "../../../src/runtime/cluster/cluster-runner.ts";
import { aCluster, type TestCluster } from "../../runtime/cluster/support.ts";
import { aRequest, end } from "../../runtime/runners/shell-runs.ts";
import { randomBy } from "../crash/crash-plan.ts";
import { isLong } from "../../helpers/long.ts";
import { pause } from "../../helpers/pause.ts";

const rounds = Number(process.env.AL_CLUSTER_ROUNDS ?? (isLong ? 20 : 1));
const firstSeed = Number(process.env.AL_CLUSTER_SEED ?? 1);
const lineCount = isLong ? 300 : 120;

const script = [
  `echo '{"type":"return","json":"1","more":false}'`,
  `i=0; while [ $i -lt ${lineCount} ]; do echo "line $i"; i=$((i+1))`,
  `[ $((i % 10)) = 0 ] && sleep 0.05`,
  `[ $i = ${lineCount / 2} ] && echo '{"type":"return","json":"2","more":false}'`,
  "done",
  end(),
].join("\n");

/** The log of one scheduler, on a slow disk that fails now and then. What is not in the file is gone with its process. */
function slowLog(file: LogEntry[], random: () => number) {
  const waiting: LogEntry[] = [];
  let isKilled = false;
  return {
    write: (entry: LogEntry): void => void waiting.push(entry),
    flush: async (): Promise<boolean> => {
      const count = waiting.length;
      await pause(random() * 60, "the disk is slow");
      if (isKilled || random() < 0.1) return false;
      file.push(...waiting.splice(0, count));
      return true;
    },
    kill: (): void => void (isKilled = true),
  };
}

/** Follows a run under one scheduler until its exit, or until the scheduler is killed; then null. */
async function followed(
  request: RunRequest,
  cluster: TestCluster,
  { file, random, isNew }: { file: LogEntry[]; random: () => number; isNew: boolean },
): Promise<RunnerEvent | null> {
  const log = slowLog(file, random);
  const alive = isNew ? [] : [request.instanceId];
  const runner = await cluster.start({ flushLogs: log.flush }, alive);
  const event$ = isNew ? runner.run(request, NEVER) : await adopted(request, runner, file);
  const exit = new Promise<RunnerEvent>((resolve) => {
    event$.subscribe((event) => {
      if (event.type === "output") log.write(event.entry);
      if (event.type === "exit") resolve(event);
    });
  });
  const killed = pause(100 + random() * 700, "the scheduler is killed at a random moment", null);
  const first = await Promise.race([exit, killed]);
  log.kill();
  if (first === null) await cluster.stop();
  return first;
}

async function adopted(
  { instanceId, item }: RunRequest,
  runner: ClusterRunner,
  file: readonly LogEntry[],
): Promise<Observable<RunnerEvent>> {
  const read = () => Promise.resolve(file.map((entry) => ({ id: "", entry })));
  const open = [{ item, instanceId, startedAt: 0, waitedMs: 0, leftByStop: false }];
  const [run] = await adoptRuns(open, [runner], { read });
  if (run === undefined) throw new Error("it is not found");
  return run.report(NEVER);
}

const seeds = Array.from({ length: rounds }, (_, index) => firstSeed + index);

test.each(seeds)(
  "a run whose scheduler is killed repeatedly keeps its result, and each log line once (seed %i)",
  async (seed) => {
    const random = randomBy(seed);
    const cluster = await aCluster();
    const request = aRequest(script);
    const file: LogEntry[] = [];
    let kills = -1;
    let exit: RunnerEvent | null = null;
    for (let isNew = true; exit === null; isNew = false) {
      exit = await followed(request, cluster, { file, random, isNew });
      kills += 1;
    }
    const lines = Array.from({ length: lineCount }, (_, index) => `line ${index}`);
    expect(file.map(({ msg }) => msg)).toEqual(lines);
    expect(exit).toMatchObject({ exit: { exitCode: 0, value: 2, usage: { tokens: 7 } } });
    expect(cluster.launches).toHaveLength(1);
    expect(kills).toBeGreaterThan(0);
  },
);
