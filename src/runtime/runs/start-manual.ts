import { v7 as uuidV7 } from "uuid";
import type { Trigger } from "../../../streams/vocabulary.ts";
import { startWork, type WorkStarter } from "./replay.ts";
import { mustBeStartable, refusalOf, type StartableDeps } from "./runnable.ts";

/** The first state of work that a person started. */
export interface StartedManual {
  readonly triggerId: string;
  readonly instanceId: string | null;
  readonly queued: boolean;
}

interface StartDeps extends StartableDeps, WorkStarter {}

/** Commits manual work under an id, and with a session key, and dispatches it. Rejects with the Problem why it did not start. */
export async function startManual(
  agent: string,
  trigger: Trigger,
  deps: StartDeps,
  triggerId: string = uuidV7(),
  session: string | null = null,
): Promise<StartedManual> {
  mustBeStartable(deps, agent);
  const own = { id: triggerId, agent, at: Date.now(), attempt: 1, trigger };
  const item = session === null ? own : { ...own, session };
  const [event] = await startWork([item], deps);
  if (event?.type === "refused") throw refusalOf(event, deps);
  const instanceId = event?.type === "started" ? event.instanceId : null;
  return { triggerId, instanceId, queued: event?.type === "queued" };
}
