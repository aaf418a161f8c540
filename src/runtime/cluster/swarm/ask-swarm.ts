import { UserError } from "../../../foundation/errors.ts";
import { engineMessage, isUnreachable, statusOf } from "../../runners/container/engine.ts";
import type { Engine } from "../../runners/container/engine.ts";

/** Does the work; rejects with a UserError `engine_unreachable` while the engine or the Swarm's leader is away. */
export async function askSwarm<T>(engine: Engine, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (isUnreachable(error)) {
      // Its error has what to do.
      await engine.ping();
      throw away(engine, error);
    }
    throw isWithoutLeader(error) ? away(engine, error) : refused(error);
  }
}

/** Words of the engine, which has no code of its own for a Swarm that has lost most of its managers. */
function isWithoutLeader(error: unknown): boolean {
  return (
    (statusOf(error) ?? 0) >= 500 &&
    /does not have a leader|deadline ?exceeded|lost leader|not the leader|raft: |quorum|Unavailable|not a swarm manager/i.test(
      engineMessage(error),
    )
  );
}

function away(engine: Engine, cause: unknown): UserError {
  const message = `the Swarm at ${engine.address()} does not answer (${engineMessage(cause)})`;
  const hint = "see docker node ls on a manager; more than half of the managers must be there";
  return new UserError("engine_unreachable", message, { hint, cause });
}

function refused(cause: unknown): UserError {
  return new UserError("swarm_refused", `the Swarm refused it: ${engineMessage(cause)}`, { cause });
}

interface SwarmInfo {
  readonly Swarm?: { readonly LocalNodeState?: string; readonly ControlAvailable?: boolean };
}

/** Rejects with a UserError unless the engine is a manager of its Swarm. */
export async function assertManager(engine: Engine): Promise<void> {
  const { Swarm = {} } = (await engine.calls().info()) as SwarmInfo;
  const { LocalNodeState = "inactive", ControlAvailable = false } = Swarm;
  if (ControlAvailable) return;
  // After a start of the engine, until it has found the others.
  if (LocalNodeState === "pending") throw away(engine, new Error("its node is joining"));
  const isMember = LocalNodeState === "active";
  const message = isMember
    ? `the engine at ${engine.address()} is a worker of its Swarm`
    : `the engine at ${engine.address()} is in no Swarm (it is ${LocalNodeState})`;
  const hint = isMember
    ? "run docker node promote <this node> on a manager, or set DOCKER_HOST to a manager"
    : "run docker swarm init there, or set DOCKER_HOST to a manager of the Swarm";
  throw new UserError("not_a_swarm_manager", message, { hint });
}
