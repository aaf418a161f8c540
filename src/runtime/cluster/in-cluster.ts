import { from, switchMap, type Observable } from "rxjs";
import { join } from "node:path";
import type { Runner } from "../../../streams/runs/runner.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RemoteRuns } from "../wire/remote-protocol.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { Adopter } from "../runners/adopt-runs.ts";
import type { ClusterRecord } from "./cluster-runner-options.ts";
import { numberOf } from "./remote-process.ts";
import { createRecordFiles } from "../runners/record-files.ts";
import type { Cluster, ClusterPorts, ClusterSources } from "./load-cluster.ts";

/** The runtime of a project's cluster. Its code is loaded by the first agent, or the first earlier run, that needs it. */
export function createInCluster(
  context: SchedulerContext,
  ports: ClusterPorts,
  sources: Omit<ClusterSources, "records">,
) {
  const { projectDir, project$ } = context;
  const folder = join(projectDir, ".al", "run", "cluster");
  const records = createRecordFiles<ClusterRecord>(folder);
  let loading: Promise<Cluster> | undefined;
  const cluster = (): Promise<Cluster> =>
    (loading ??= import("./load-cluster.ts").then((edge) =>
      edge.createCluster(context, ports, { ...sources, records }),
    ));
  const loaded = <T>(work: (cluster: Cluster) => Observable<T>) =>
    from(cluster()).pipe(switchMap(work));
  const runtime: Runner & Adopter = {
    run: (request, stop$) => loaded(({ runner }) => runner.run(request, stop$)),
    resume: (run, stop$) => loaded(({ runner }) => runner.resume(run, stop$)),
    adopt: async (instanceIds) => {
      // Without the table and a record the project never had a run in a cluster.
      if (project$.value.cluster === null && (await records.list()).length === 0) return [];
      const { runner } = await cluster();
      const found = await runner.adopt(instanceIds);
      void runner.reap();
      return found;
    },
    isOwnLine: (entry) => numberOf(entry) > 0,
  };
  return {
    ...runtime,
    prepare: (config: AgentConfig) => loaded((edge) => edge.prepare(config)),
    remoteRuns: {
      claim: async (...given) => (await cluster()).runner.remoteRuns.claim(...given),
      lines: async (...given) => (await cluster()).runner.remoteRuns.lines(...given),
      inbox: async (...given) => (await cluster()).runner.remoteRuns.inbox(...given),
    } satisfies RemoteRuns,
  };
}
