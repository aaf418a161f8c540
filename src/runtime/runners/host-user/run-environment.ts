import type { RunRequest } from "../../../../streams/vocabulary.ts";
import type { HostUserOptions } from "./host-user-options.ts";
import { isOwnUser } from "./supervisor-process.ts";
import type { SupervisorStart } from "./supervisor-process.ts";
import { workDirOf } from "./run-files.ts";
import { tempDirOf } from "./work-dir.ts";

type Environment = Readonly<Record<string, string>>;

/** How a run's supervisor is started, now and when an order has to follow it. */
export function supervisorStartOf(
  agent: string,
  runAs: string,
  { runAgent, env, compileCache }: HostUserOptions,
): SupervisorStart {
  const cache = isOwnUser(runAs) && compileCache !== null;
  const own = { ...passedOn(env), ...(cache ? { NODE_COMPILE_CACHE: compileCache } : {}) };
  return { program: runAgent(agent), runAs, env: own };
}

/**
 * What a run's process is started with; another user's PATH, USER and LOGNAME come from sudo. The scheduler's own
 * variables may hold secrets: few are passed on.
 */
export function runEnvironment(
  { agent, instanceId }: RunRequest,
  options: HostUserOptions,
): Environment {
  const workDir = workDirOf(options.baseDir, instanceId);
  return {
    ...commonEnvironment(agent.runtime.runAs, options),
    HOME: workDir,
    TMPDIR: tempDirOf(workDir),
    TZ: agent.timezone,
    AL_INSTANCE: instanceId,
  };
}

/** What a process is started with that waits for a run, whatever the agent: `mark` stands for the instance. */
export function prewarmEnvironment(
  runAs: string,
  mark: string,
  options: HostUserOptions,
): Environment {
  const common = commonEnvironment(runAs, options);
  return { ...common, HOME: "/nonexistent", AL_INSTANCE: mark, AL_WARM: "1" };
}

function commonEnvironment(runAs: string, { env, compileCache }: HostUserOptions): Environment {
  const oneself = isOwnUser(runAs);
  return {
    ...(oneself ? passedOn(env) : { ...only(env, ["LANG"]), SHELL: "/bin/sh" }),
    ...(oneself && compileCache !== null ? { NODE_COMPILE_CACHE: compileCache } : {}),
  };
}

function passedOn(env: NodeJS.ProcessEnv): Environment {
  return only(env, ["PATH", "LANG", "USER", "LOGNAME", "SHELL"]);
}

function only(env: NodeJS.ProcessEnv, names: readonly string[]): Environment {
  const found = names.flatMap((name): [string, string][] => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { LANG: "C.UTF-8", ...Object.fromEntries(found) };
}
