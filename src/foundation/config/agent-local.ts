import { z } from "zod";
import type { AgentLocalConfig } from "../../../streams/agent-config.ts";
import { runtimes, type RuntimeType } from "../../../streams/runtimes.ts";
import { agentKey, fact, factOf, maskValues } from "./config-key.ts";
import type { Diagnostics } from "./validate.ts";
import { describeValues, differingKeys } from "./format-value.ts";
import { memorySize, network, pattern, processors, table } from "./fields.ts";

const variable = pattern(
  /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
  "letters, digits and _, and no digit at the beginning",
);

const localSchema = table({
  memory: memorySize().optional().meta({
    description:
      "Memory limit per container, without swap. Files written to its in-memory folders count.",
    fallback: "the project's `memory`",
  }),
  cpus: processors()
    .optional()
    .meta({ description: "CPU limit per container.", fallback: "the project's `cpus`" }),
  network: network().optional().meta({
    description: "Network of the agent's runs, as in the project's `[local]`.",
    fallback: "the project's `network`",
  }),
  env: z
    .record(variable, z.string({ error: "a string" }), {
      error: 'a table of variables, e.g. { LOG_LEVEL = "debug" }',
    })
    .default({})
    .describe(
      "Environment variables for commands and hooks, in every runtime. They are not secret: use credentials for secrets.",
    ),
});
type LocalTable = z.output<typeof localSchema>;

/** An agent's own `[local]`. */
export const localKey = agentKey({
  inFile: "local",
  field: localSchema
    .prefault({})
    .describe("Overrides the project's `[local]`. `memory` and `cpus` apply to containers only."),
  resolve: ({ memory = null, cpus = null, network: net = null, env }): AgentLocalConfig => ({
    memory,
    cpus,
    network: net,
    env,
  }),
  value: z.object({
    memory: z.string().nullable(),
    cpus: z.number().nullable(),
    network: z.string().nullable(),
    env: z.record(z.string(), z.string()),
  }),
  canonical: (local, { mask }) => ({ ...local, env: maskValues(local.env, mask) }),
  change: (before, after) =>
    differingKeys(before, after)
      .map((key) => describeLocal(key, before, after))
      .join(", "),
  facts: ({ memory, cpus, network: net, env }) => [
    ...fact("Memory", memory),
    ...fact("Processors", cpus === null ? null : String(cpus)),
    ...fact("Network", net),
    ...factOf(
      "Variables",
      Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ),
  ],
});

/** Values of variables may be long, so a change names only the key. */
function describeLocal(key: string, before: AgentLocalConfig, after: AgentLocalConfig): string {
  if (key === "env") return "local.env changed";
  const valueIn = (local: object): unknown =>
    new Map<string, unknown>(Object.entries(local)).get(key);
  return describeValues(`local.${key}`, valueIn(before), valueIn(after));
}

/** Variables that the run sets itself, or that change which program a command runs. */
const reserved =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|ENV|BASH_ENV|NODE_OPTIONS|NODE_COMPILE_CACHE|GIT_CONFIG_(COUNT|KEY_.*|VALUE_.*)|(AL|LD|DYLD)_.*)$/;

interface CheckedTable {
  readonly credentials: readonly string[];
  readonly local: LocalTable;
  readonly runtimeType: RuntimeType;
}

/** Reports reserved variables in `[local].env`, and warns of limits without effect. */
export function checkLocal(
  { credentials, local, runtimeType }: CheckedTable,
  credentialSets: (reference: string, variable: string) => boolean,
  diagnostics: Diagnostics,
): void {
  for (const name of Object.keys(local.env)) {
    const from = credentials.find((reference) => credentialSets(reference, name));
    const path = ["local", "env", name];
    if (reserved.test(name)) {
      diagnostics.error(path, `local.env.${name} is reserved for the run itself; ${instead(name)}`);
    } else if (from !== undefined) {
      const advice = "choose another name, or leave the credential out";
      diagnostics.error(path, `local.env.${name} is set by the credential ${from}; ${advice}`);
    }
  }
  if (runtimes[runtimeType].hasLimits) return;
  for (const key of ["memory", "cpus"] as const) {
    if (local[key] === undefined) continue;
    const advice = `leave it out, or set type = "container" under [runtime]`;
    diagnostics.warn(
      ["local", key],
      `local.${key} limits containers, and this is a ${runtimeType} agent; ${advice}`,
    );
  }
}

function instead(name: string): string {
  if (name === "TZ") return "set timezone of the agent";
  return "choose another name, or set it in the command that needs it";
}
