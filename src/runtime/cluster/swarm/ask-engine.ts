import { Problem } from "../../../foundation/errors.ts";
import {
  engineMessage,
  isUnreachable,
  statusOf,
  type Engine,
} from "../../runners/container/engine.ts";

/** Does the work; rejects with a Problem `engine_unreachable` while the engine or its Swarm's leader is away. */
export async function askEngine<T>(engine: Engine, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) throw error;
    // The error of a failed ping has a hint.
    if (isUnreachable(error)) await engine.ping();
    if (isUnreachable(error) || isWithoutLeader(error)) throw away(engine, error);
    throw new Problem(
      "engine_refused",
      `the engine at ${engine.address()} refused it: ${engineMessage(error)}`,
      { cause: error },
    );
  }
}

/** Waits for a request that the engine may refuse with one of these statuses. */
export async function unlessRefused(
  statuses: readonly number[],
  answer: Promise<unknown>,
): Promise<void> {
  await answer.catch((error: unknown) => {
    if (!statuses.includes(statusOf(error) ?? 0)) throw error;
  });
}

/** Recognizes by message a Swarm that has lost most of its managers, as the engine has no code for that. */
function isWithoutLeader(error: unknown): boolean {
  return (
    (statusOf(error) ?? 0) >= 500 &&
    /does not have a leader|deadline ?exceeded|lost leader|not the leader|raft: |quorum|Unavailable|not a swarm manager/i.test(
      engineMessage(error),
    )
  );
}

function away(engine: Engine, cause: unknown): Problem {
  return new Problem(
    "engine_unreachable",
    `the engine at ${engine.address()} does not answer (${engineMessage(cause)})`,
    { hint: "see docker node ls: more than half of the managers must be up", cause },
  );
}

interface SwarmInfo {
  readonly Swarm?: { readonly LocalNodeState?: string; readonly ControlAvailable?: boolean };
}

/** Rejects with a Problem unless the engine is a manager of its Swarm. */
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
  throw new Problem("not_a_swarm_manager", message, hint);
}
