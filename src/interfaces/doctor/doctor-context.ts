import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { Diagnostic } from "../../../streams/vocabulary.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import { readProject } from "../../foundation/config/read-project.ts";
import { resolveProject } from "../../foundation/config/resolve-project.ts";
import { homeDir } from "../../foundation/credentials/read-secret.ts";
import { Problem } from "../../foundation/errors.ts";
import { checkAgents } from "../../runtime/agents/project-files.ts";
import { readSchedulerInfo, type SchedulerInfo } from "../../foundation/store/project-lock.ts";
import { runsDir } from "../../runtime/runners/host-user/run-agent-program.ts";
import { filterTable } from "../../features/webhooks/providers/table.ts";

/** Where the project is, and its environment. */
export interface DoctorOptions {
  /** Absolute. */
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** The operating system; by default this one. */
  readonly platform?: NodeJS.Platform;
  /** The folder of host users' runs; by default `/tmp/al-runs`. */
  readonly runsDir?: string;
  /** The kernel's file that contains "1" while SELinux is enforcing. */
  readonly selinux?: string;
}

/** A project and its environment, read once for all checks. */
export interface DoctorContext extends Required<DoctorOptions> {
  readonly home: string;
  /** Null when its `config.toml` can't be used; then no agent is known either. */
  readonly project: ProjectConfig | null;
  /** Why `config.toml` could not be read at all. */
  readonly unreadable: Problem | null;
  /** Problems of the project's `config.toml`. */
  readonly problems: readonly Diagnostic[];
  readonly agents: readonly AgentConfig[];
  /** Problems of the agents' files and directories. */
  readonly agentProblems: readonly Diagnostic[];
  /** Names of directories that have a SKILL.md and no `config.toml`. */
  readonly bareSkills: readonly string[];
  /** The living scheduler of the project; null without one. */
  readonly scheduler: SchedulerInfo | null;
  /** The error of the check for a scheduler; null if it succeeded. */
  readonly lockProblem: unknown;
}

/** Reads a project. An error in it is part of the result, and never thrown. */
export async function readDoctorContext(options: DoctorOptions): Promise<DoctorContext> {
  const { projectDir, env } = options;
  const context: DoctorContext = {
    platform: process.platform,
    runsDir,
    selinux: "/sys/fs/selinux/enforce",
    ...options,
    ...readScheduler(projectDir),
    home: homeDir(env),
    project: null,
    unreadable: null,
    problems: [],
    agents: [],
    agentProblems: [],
    bareSkills: [],
  };
  try {
    const change = resolveProject(await readProject(projectDir), filterTable);
    if (change.type === "invalid") return { ...context, problems: change.problems };
    const { project, warnings: problems } = change;
    return { ...context, project, problems, ...(await readAgents(projectDir, project)) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { ...context, unreadable: error };
  }
}

function readScheduler(projectDir: string) {
  try {
    return { scheduler: readSchedulerInfo(projectDir), lockProblem: null };
  } catch (error) {
    return { scheduler: null, lockProblem: error };
  }
}

async function readAgents(projectDir: string, project: ProjectConfig) {
  const { checked, configs, problems, bareSkills } = await checkAgents(projectDir, project);
  const agentProblems = [...problems, ...checked.flatMap((one) => one.problems)];
  return { agents: configs, agentProblems, bareSkills };
}

/** Agents that may run. */
export function enabledAgents({ agents }: DoctorContext): AgentConfig[] {
  return agents.filter(({ scale }) => scale > 0);
}
