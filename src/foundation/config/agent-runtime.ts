import { z } from "zod";
import type { RuntimeConfig } from "../../../streams/agent-config.ts";
import {
  defaultRuntime,
  defaultRuntimeInCluster,
  runtimes,
  runtimeTypes,
} from "../../../streams/runtimes.ts";
import type { RuntimeType } from "../../../streams/runtimes.ts";
import { placeProblem } from "./cluster-place.ts";
import { places } from "./cluster.ts";
import { agentKey, fact, factOf } from "./config-key.ts";
import type { Diagnostics } from "./validate.ts";
import { describeValues } from "./format-value.ts";
import { choice, pattern, table } from "./fields.ts";
import type { ProjectConfig } from "./project-config.ts";

const runtimeSchema = table({
  type: choice(runtimeTypes)
    .optional()
    .meta({
      description: `${runtimeTypes.map((type) => `"${type}" ${runtimes[type].summary}`).join(", ")}.`,
      fallback: `"${defaultRuntime}"; "${defaultRuntimeInCluster}" if the project has [cluster]`,
    }),
  run_as: pattern(
    /^(\$USER|[A-Za-z_][A-Za-z0-9_.-]{0,31})$/,
    'the name of an OS user, or "$USER" for the one that runs the scheduler',
  )
    .default("al-agent")
    .describe(
      'The OS user of a host-user agent. "$USER" runs the agent as your own user, without isolation from your files.',
    ),
  place: places().optional().meta({
    description: "Where in the cluster runs may be placed.",
    fallback: "the project's `[cluster].place`",
  }),
});
type RuntimeTable = z.output<typeof runtimeSchema>;

export const runtimeKey = agentKey({
  inFile: "runtime",
  field: runtimeSchema
    .prefault({})
    .describe("Where runs execute: in a local container, on the cluster, or as an OS user."),
  resolve: (given, { project }): RuntimeConfig => ({
    type: runtimeTypeOf(given, project),
    runAs: given.run_as,
    ...(given.place && { place: given.place }),
  }),
  written: ({ type, runAs, place }) => ({ type, run_as: runAs, ...(place && { place }) }),
  value: z.object({
    type: z.enum(runtimeTypes),
    runAs: z.string(),
    place: z.array(z.string()).readonly().exactOptional(),
  }),
  change: describeRuntimes,
  facts: ({ type, runAs, place = [] }) => [
    ...fact("Runs in", runtimes[type].place(runAs)),
    ...factOf("Placed where", place),
  ],
});

/** The resolved runtime: the project's `[cluster]` applies to agents that name none. */
export function runtimeTypeOf({ type }: RuntimeTable, { cluster }: ProjectConfig): RuntimeType {
  return type ?? (cluster === null ? defaultRuntime : defaultRuntimeInCluster);
}

/** Reports an agent of a cluster that the project does not have, and rules that its engine can't follow. */
export function checkRuntime(
  { runtime }: { readonly runtime: RuntimeTable },
  project: ProjectConfig,
  diagnostics: Diagnostics,
): void {
  const { cluster } = project;
  const type = runtimeTypeOf(runtime, project);
  const place = runtime.place ?? [];
  if (!runtimes[type].isRemote) {
    if (place.length > 0) diagnostics.warn(["runtime", "place"], noPlace(type));
  } else if (cluster === null) {
    diagnostics.error(["runtime", "type"], noCluster(type));
  } else {
    for (const [index, rule] of place.entries()) {
      const problem = placeProblem(cluster.engine, rule);
      if (problem !== null) diagnostics.error(["runtime", "place", index], `runtime.${problem}`);
    }
  }
}

function noPlace(type: RuntimeType): string {
  return `runtime.place is for runs in a cluster, and this is a ${type} agent; leave it out`;
}

function noCluster(type: RuntimeType): string {
  const advice = `add it with engine and address, or set type = "${defaultRuntime}"`;
  return `runtime.type is "${type}", but config.toml of the project has no [cluster]; ${advice}`;
}

function describeRuntimes(before: RuntimeConfig, after: RuntimeConfig): string {
  if (before.type !== after.type) return describeValues("runtime.type", before.type, after.type);
  if (before.runAs !== after.runAs)
    return describeValues("runtime.run_as", before.runAs, after.runAs);
  return describeValues("runtime.place", before.place ?? null, after.place ?? null);
}
