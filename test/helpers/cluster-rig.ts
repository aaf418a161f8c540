import { openStore } from "../../src/features/open-store.ts";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tap, type Observable } from "rxjs";
import type { RunnerEvent } from "../../streams/runs/runner.ts";
import type { RunRequest } from "../../streams/vocabulary.ts";
import type { Job } from "../../src/foundation/contracts/job.ts";
import { createRedactor } from "../../src/foundation/credentials/redactor.ts";
import { createDoor } from "../../src/runtime/cluster/door/door.ts";
import { doorIdentity } from "../../src/runtime/cluster/door/door-identity.ts";
import { createRunSockets } from "../../src/runtime/run-api/run-sockets.ts";
import type { RunSocket } from "../../src/runtime/run-api/run-socket.ts";
import { runName, type ClusterEngine } from "../../src/runtime/cluster/cluster-engine.ts";
import type {
  ClusterRunnerOptions,
  ClusterRecord,
} from "../../src/runtime/cluster/cluster-runner-options.ts";
import { createClusterRunner } from "../../src/runtime/cluster/cluster-runner.ts";
import type { ClusterRunner } from "../../src/runtime/cluster/cluster-runner.ts";
import { createRecordFiles } from "../../src/runtime/runners/record-files.ts";
import { hostGateway } from "../runtime/harness/model-host.ts";
import { noEgress } from "../runtime/run-api/no-egress.ts";
import { contractGraceMs, jobOf, scriptOf } from "../runtime/runners/shell-runs.ts";
import { fakeAbilities } from "./fake-abilities.ts";
import { whileAlive } from "./while-alive.ts";

type ClusterRunConfig = ReturnType<ClusterRunnerOptions["cluster"]>;

/**
 * Schedulers one after another with a real door, a real store and real records, in front of an engine. Runs are shell
 * scripts: the title of an agent is one, or the scenario whose script it is. At `host` the door listens, and machines
 * reach it.
 */
export async function clusterRig({
  engine,
  host = "127.0.0.1",
}: {
  readonly engine: ClusterEngine;
  readonly host?: string;
}) {
  const dir = await mkdtemp(join(tmpdir(), "al-cluster-"));
  const { key, certificate } = await doorIdentity(join(dir, "door.pem"));
  const store = openStore(dir);
  const records = createRecordFiles<ClusterRecord>(join(dir, "records"));
  let port = 0;
  let stop = (): Promise<void> => Promise.resolve();
  const cluster: ClusterRunConfig = {
    get address() {
      return `${host}:${port}`;
    },
    leaseSeconds: 90,
    startTimeoutSeconds: 600,
    reserve: { memory: "64m", cpus: 0.05 },
    place: [],
  };
  /** Options with this in `[cluster]`. */
  const configured = (changed: Partial<ClusterRunConfig>) => ({
    cluster: () => ({ ...cluster, ...changed, address: cluster.address }),
  });

  /** The next scheduler, for these runs of earlier ones; requests go to it from now on. */
  const start = async (
    options: Partial<ClusterRunnerOptions> = {},
    alive: readonly string[] = [],
  ): Promise<ClusterRunner> => {
    await stop();
    const onProblem = (message: string): void => process.emitWarning(message);
    const sockets = createRunSockets({
      records: { local: store.channels, remote: store.remoteRuns },
      redactor: createRedactor(),
      onProblem,
    });
    const bySocket = new Map<string, RunSocket>(await sockets.restore(new Set(alive)));
    const door = createDoor({
      identity: { key, certificate },
      find: (name) => sockets.find(name),
      onProblem,
    });
    port = (await door.listen({ host, port })) ?? 0;
    const killed = new AbortController();
    const runner = createClusterRunner({
      engine: whileAlive(engine, killed.signal),
      records: whileAlive(records, killed.signal),
      imageFor: () => Promise.resolve({ image: "al-test", volumes: [] }),
      local: () => ({ memory: "256m", cpus: 1, network: "none" }),
      certificate: () => certificate,
      flushLogs: () => Promise.resolve(true),
      scheduler: randomUUID(),
      projectDir: dir,
      graceMs: contractGraceMs,
      onCooldown: () => undefined,
      redactorFor: () => (text) => text.replaceAll("s3cret", "***"),
      command: ({ agent: { title } }) => ["/bin/sh", "-c", scriptOf(title)],
      pollMs: 50,
      ...configured({}),
      prepare: async (request, workDir) => {
        const channel = bySocket.has(request.instanceId) ? null : await opened(request);
        return { ...jobOf(request, workDir), models: [{ ...aModel }], channel };
      },
      ...options,
    });
    const opened = async ({ instanceId }: RunRequest) => {
      const { runSocket, token, path } = await sockets.openRemote(instanceId, runName(instanceId));
      bySocket.set(instanceId, runSocket);
      return { token, socket: path };
    };
    const untilExit = (instanceId: string, event$: Observable<RunnerEvent>) =>
      event$.pipe(
        tap(({ type }) => {
          if (type === "exit") bySocket.get(instanceId)?.[Symbol.dispose]();
        }),
      );
    // As at a start of `al`: a run that nobody has adopted yet would be refused, and end itself.
    await runner.adopt([...alive]);
    sockets.serve({
      runApi: fakeAbilities(),
      models: hostGateway,
      egress: noEgress,
      remote: runner.remoteRuns,
    });
    stop = async () => {
      stop = () => Promise.resolve();
      killed.abort();
      door.close();
      await sockets.close();
    };
    return {
      ...runner,
      run: (request, stop$) => untilExit(request.instanceId, runner.run(request, stop$)),
      resume: (run, stop$) => untilExit(run.request.instanceId, runner.resume(run, stop$)),
    };
  };
  return {
    records,
    start,
    configured,
    /** No scheduler answers from now on, and the one before does nothing any more. */
    stop: () => stop(),
    dispose: async () => {
      await stop();
      store.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export type ClusterRig = Awaited<ReturnType<typeof clusterRig>>;

const aModel = { name: "m", provider: "scripted" } as Job["models"][number];
