import type { AgentConfig } from "../../../streams/agent-config.ts";
import { harnesses } from "../../../streams/harnesses.ts";
import { runtimes } from "../../../streams/runtimes.ts";
import { Problem } from "../../foundation/errors.ts";
import type { LlmCli } from "../harness/llm-cli/llm-cli.ts";
import { cliFor } from "../harness/llm-cli/clis.ts";
import { findProgram } from "../wire/find-program.ts";
import { isOwnUser } from "../wire/supervisor-process.ts";

/** A problem of the command line that an agent's harness starts. */
export interface CommandProblem {
  readonly reason: string;
  /** A fix for the operator. */
  readonly hint: string;
  /** False if runs may still find the command: another OS user's PATH is unknown to the scheduler. */
  readonly isCertain: boolean;
}

/**
 * Why runs of the agent can't start their command line; null if they can, or if the scheduler can't check that, because
 * the command is in a container's image.
 */
export async function commandProblem(
  agent: AgentConfig,
  env: NodeJS.ProcessEnv,
): Promise<CommandProblem | null> {
  const { harness, runtime } = agent;
  if (!harnesses[harness.type].startsCommand) return null;
  const { install, refusesRoot, isPlain } = cliFor(harness.command);
  const other = `al config ${agent.name} --set harness.command=<path>`;
  const search = runtimes[runtime.type].runsAsUser
    ? await findProgram(harness.command, runtime.runAs, env)
    : "found";
  if (search !== "found") {
    const reason = missingText(harness.command, runtime.runAs, search === "missing");
    const hint =
      install === null
        ? `choose another one: ${other}`
        : `install it: ${install}; or choose another one: ${other}`;
    return { reason, hint, isCertain: search === "missing" };
  }
  if (isPlain === undefined && harness.args !== undefined) {
    const reason = `${harness.command} is started with the harness's own arguments, and accepts no others`;
    return { reason, hint: "remove them from harness.command", isCertain: true };
  }
  return refusesRoot && runsAsRoot(runtime) ? rootProblem(agent) : null;
}

function runsAsRoot({ type, runAs }: AgentConfig["runtime"]): boolean {
  if (!runtimes[type].runsAsUser) return false;
  return runAs === "root" || (isOwnUser(runAs) && process.getuid?.() === 0);
}

function rootProblem({ name, harness }: AgentConfig): CommandProblem {
  const reason = `${harness.command} refuses to run as root, like the runs of this agent`;
  const hint = `choose another OS user: al config ${name} --set runtime.run_as=<user>`;
  return { reason, hint, isCertain: false };
}

/** Rejects with a Problem if runs certainly can't start their command line. */
export async function checkCommand(agent: AgentConfig, env: NodeJS.ProcessEnv): Promise<void> {
  const problem = await commandProblem(agent, env);
  if (problem === null || !problem.isCertain) return;
  throw new Problem("missing_command", problem.reason, problem.hint);
}

/** Why a run refuses messages of people while it works, by their kind; null for those that it takes. */
export function whyNoInput({ harness }: AgentConfig): LlmCli["refuses"] {
  const { startsCommand } = harnesses[harness.type];
  return startsCommand ? cliFor(harness.command).refuses : { steer: null, stop: null };
}

function missingText(command: string, runAs: string, isCertain: boolean): string {
  const missing = `harness.command ${JSON.stringify(command)} is not there`;
  if (command.includes("/")) return `${missing}, or is not executable`;
  return isCertain
    ? `${missing}: not found in the scheduler's PATH`
    : `${missing}: not found in the usual PATH of OS user ${runAs}`;
}
