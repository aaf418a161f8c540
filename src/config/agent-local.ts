import type { AgentLocalConfig } from "../../streams/agent-config.ts";
import { runtimes } from "../../streams/runtimes.ts";
import type { AgentTable } from "./agent-schema.ts";
import type { Diagnostics } from "./diagnostics.ts";

/** Variables that the run sets itself, or that change which program a command is. */
const reserved =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|ENV|BASH_ENV|NODE_OPTIONS|NODE_COMPILE_CACHE|GIT_CONFIG_(COUNT|KEY_.*|VALUE_.*)|(AL|LD|DYLD)_.*)$/;

/** An agent's own `[local]`. */
export function resolveLocal(local: AgentTable["local"]): AgentLocalConfig {
  const { memory = null, cpus = null, network = null, env } = local;
  return { memory, cpus, network, env };
}

/** Reports what of an agent's `[local]` can't be had, and warns of what has no effect. */
export function checkLocal(
  { credentials, local, runtime }: AgentTable,
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
  if (runtimes[runtime.type].hasLimits) return;
  for (const key of ["memory", "cpus", "network"] as const) {
    if (local[key] === undefined) continue;
    const advice = `leave it out, or set type = "container" under [runtime]`;
    diagnostics.warn(
      ["local", key],
      `local.${key} limits containers, and this is a ${runtime.type} agent; ${advice}`,
    );
  }
}

function instead(name: string): string {
  if (name === "TZ") return "set timezone of the agent";
  return "choose another name, or set it in the command that needs it";
}
