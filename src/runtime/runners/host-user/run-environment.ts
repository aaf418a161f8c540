import type { RunRequest } from "../../../../streams/vocabulary.ts";
import type { HostUserOptions } from "./host-user-options.ts";
import { isOwnUser, type SupervisorStart } from "../../wire/supervisor-process.ts";
import { workDirOf } from "./run-files.ts";
import { tempDirOf } from "./work-dir.ts";

type Environment = Readonly<Record<string, string>>;

/** How a run's supervisor is started, now and again for a later order. */
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
 * The environment of a run's process; another user's PATH, USER and LOGNAME come from sudo. The scheduler's own
 * variables may hold secrets: few are passed on.
 */
export function runEnvironment(
  { agent, instanceId }: RunRequest,
  options: HostUserOptions,
): Environment {
  const { env, compileCache } = options;
  const workDir = workDirOf(options.baseDir, instanceId);
  const isOwn = isOwnUser(agent.runtime.runAs);
  return {
    ...(isOwn ? passedOn(env) : { ...only(env, ["LANG"]), SHELL: "/bin/sh" }),
    ...(isOwn && compileCache !== null ? { NODE_COMPILE_CACHE: compileCache } : {}),
    HOME: workDir,
    TMPDIR: tempDirOf(workDir),
    TZ: agent.timezone,
    AL_INSTANCE: instanceId,
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
