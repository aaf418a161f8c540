import { setTimeout as sleep } from "node:timers/promises";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { UserError } from "../../../foundation/errors.ts";
import type { Client } from "../operator/client.ts";

/** Between two tries, in milliseconds: a scheduler that hangs up at once is not asked in a loop. */
const pause = 200;

export interface LogStream {
  /** An agent, or null for all. */
  readonly agent: string | null;
  readonly instanceId: string | null;
  /** How many lines to begin with. */
  readonly lines: number;
}

/** Where a reader is; kept outside, so that another connection resumes there. */
export interface Position {
  id: string | undefined;
}

/**
 * Hands every line to `onEntry` until that returns true, the signal aborts, or the connection ends. Resolves with
 * true when `onEntry` has enough. Throws UserError when the scheduler refuses or isn't there.
 */
export async function streamLog(
  client: Client,
  stream: LogStream,
  position: Position,
  { signal, onEntry }: { signal: AbortSignal; onEntry: (entry: LogEntry) => Promise<boolean> },
): Promise<boolean> {
  try {
    const options = { signal, lastEventId: position.id };
    for await (const { event, id, data } of client.events(pathOf(stream), options)) {
      if (event !== "log") continue;
      const enough = await onEntry(JSON.parse(data) as LogEntry);
      position.id = id;
      if (enough) return true;
    }
  } catch (error) {
    if (!signal.aborted && !isCut(error)) throw error;
  }
  if (!signal.aborted) await sleep(pause);
  return false;
}

/** The connection broke, which says nothing about the request. */
function isCut(error: unknown): boolean {
  if (error instanceof UserError) return error.code === "disconnected";
  return (error as NodeJS.ErrnoException | null)?.code === "ECONNRESET";
}

function pathOf({ agent, instanceId, lines }: LogStream): string {
  const query = new URLSearchParams({ lines: String(lines) });
  if (instanceId !== null) query.set("instance", instanceId);
  const path =
    agent === null ? "/api/logs/stream" : `/dashboard/api/logs/${encodeURIComponent(agent)}/stream`;
  return `${path}?${query.toString()}`;
}
