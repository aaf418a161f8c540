import { UserError } from "../../../foundation/errors.ts";

const ofThisMachine = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether the engine at `DOCKER_HOST` can mount this machine's files. */
function isLocal(host: string): boolean {
  const name = /^(?:ssh|tcp|https?):\/\/(?:[^@/]*@)?(\[[^\]]*\]|[^:/]*)/.exec(host)?.[1];
  return name === undefined || ofThisMachine.test(name);
}

/**
 * Why no container can be started for a run: the engine is another machine's, and a container there can't have the socket
 * by which a run reaches the scheduler. Null when it can.
 */
export function remoteEngineProblem(env: NodeJS.ProcessEnv, hasCluster: boolean): UserError | null {
  const host = env.DOCKER_HOST ?? "";
  if (isLocal(host)) return null;
  const what = `DOCKER_HOST is ${host}, the engine of another machine, which can't mount the run's socket`;
  const hint = hasCluster
    ? 'write type = "cluster" under [runtime] of the agent, or type = "host-user" for runs here'
    : 'for runs there write engine = "docker" and address = "<this machine>:<port>" under [cluster] of config.toml; for runs here unset DOCKER_HOST';
  return new UserError("remote_engine", what, { hint });
}
