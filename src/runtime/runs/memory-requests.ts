import { memoryOfTree } from "../../features/memory/memory.ts";
import { createMemoryRuns } from "../../features/memory/memory-runs.ts";
import { createSeen } from "../../features/memory/seen-store.ts";
import { refusal } from "../wire/protocol.ts";
import type { LiveRun, Performers } from "./live-run.ts";
import type { RequestContext } from "./request-context.ts";

/** Requests of runs about their memories. */
export function createMemoryRequests({
  store,
  redact,
}: Pick<RequestContext, "store" | "redact">): Performers<"seen" | "memory-problem"> {
  const runs = store.tables(createMemoryRuns);
  const seen = store.tables(createSeen);
  return {
    seen: async (run, { request: { act, id } }) => {
      const memory = memoryOf(run);
      if (act === "has") return { ok: true, isSeen: seen.has(run.agent, id) };
      if (runs.modeOf(run.instanceId, memory) === "read") throw refusal("not_approved", readOnly);
      return { ok: true, isSeen: await seen.add(run.agent, id) };
    },
    "memory-problem": async (run, { request: { tree, problem } }) => {
      memoryOf(run);
      await runs.refuse(run.instanceId, memoryOfTree(tree, run.agent), redact(problem));
      return { ok: true };
    },
  };
}

const readOnly =
  'A delivery to this run is by a person whom [memory].trusted does not list, and untrusted = "read" keeps nothing of such runs.';

/** Throws a Problem for an agent without one. */
function memoryOf({ request, agent }: LiveRun) {
  const { memory } = request.agent;
  if (memory !== null) return memory;
  throw refusal("disabled", `The agent ${agent} has no memory. Add [memory] to its config.toml.`);
}
