import { from, switchMap } from "rxjs";
import type { Observable } from "rxjs";
import { join } from "node:path";
import type { Runner } from "../../streams/runs/runner.ts";
import type { AgentConfig } from "../../streams/agent-config.ts";
import type { BuildEvent } from "../../streams/vocabulary.ts";
import type { RemoteRuns } from "../foundation/contracts/remote-run.ts";
import type { Adopter } from "../runtime/runners/adopt-runs.ts";
import type { ClusterRecord } from "../runtime/cluster/cluster-records.ts";
import { numberOf } from "../runtime/cluster/received-lines.ts";
import { createRecordFiles } from "../runtime/runners/record-files.ts";
import type { Cluster, ClusterContext, ClusterSources } from "./cluster.ts";

/** The runtime of a project's cluster. */
export interface InCluster extends Runner, Adopter {
  readonly prepare: (config: AgentConfig) => Observable<BuildEvent>;
  readonly remoteRuns: RemoteRuns;
  close(): void;
}

/** Loads what talks to the cluster with the first agent, or the first earlier run, that needs it. */
export function createInCluster(
  context: ClusterContext,
  sources: Omit<ClusterSources, "records">,
): InCluster {
  const { projectDir, project$ } = context;
  const folder = join(projectDir, ".al", "run", "cluster");
  const records = createRecordFiles<ClusterRecord>(folder);
  let loading: Promise<Cluster> | undefined;
  let made: Cluster | null = null;
  const cluster = (): Promise<Cluster> =>
    (loading ??= import("./cluster.ts").then(
      (edge) => (made = edge.createCluster(context, { ...sources, records })),
    ));
  const loaded = <T>(work: (cluster: Cluster) => Observable<T>) =>
    from(cluster()).pipe(switchMap(work));
  return {
    run: (request, stop$) => loaded(({ runner }) => runner.run(request, stop$)),
    resume: (run, stop$) => loaded(({ runner }) => runner.resume(run, stop$)),
    adopt: async (instanceIds) => {
      // Without the table and a record there never was a run.
      if (project$.value.cluster === null && (await records.list()).length === 0) return [];
      const { runner } = await cluster();
      const found = await runner.adopt(instanceIds);
      void runner.reap();
      return found;
    },
    isOwnLine: (entry) => numberOf(entry) > 0,
    prepare: (config) => loaded((edge) => edge.prepare(config)),
    remoteRuns: {
      claim: async (...given) => (await cluster()).runner.remoteRuns.claim(...given),
      lines: async (...given) => (await cluster()).runner.remoteRuns.lines(...given),
      inbox: async (...given) => (await cluster()).runner.remoteRuns.inbox(...given),
    },
    close: () => made?.close(),
  };
}
