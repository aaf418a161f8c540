import type { Condition } from "../../../streams/coordination/condition.ts";
import type { Wait } from "../../../streams/coordination/waits.ts";
import type { Rest, Rests } from "./rests.ts";

/** The waits that are not answered, and the rest of the run that each is. */
export interface OpenWaits {
  /** The run rests from now on, and says what for. */
  begin(wait: Wait): void;
  get(key: string): Wait | undefined;
  has(key: string): boolean;
  /** Marks that what happens is told to it from now on. False when it is over already. */
  listen(key: string): boolean;
  listens(key: string): boolean;
  /** Ends the rest; `ready` is called once the run may go on, and never when it ended before. */
  finish(key: string, ready: () => void): void;
  /** The run is over. */
  end(instanceId: string): void;
}

interface OpenWait {
  readonly wait: Wait;
  readonly rest: Rest;
  listens: boolean;
}

export function createOpenWaits(rests: Rests): OpenWaits {
  const open = new Map<string, OpenWait>();
  return {
    begin: (wait) => {
      const text = waitText(wait.condition);
      const rest = rests.begin(wait.instanceId, { clockStands: true, text });
      open.set(wait.key, { wait, rest, listens: false });
    },
    get: (key) => open.get(key)?.wait,
    has: (key) => open.has(key),
    listen: (key) => {
      const entry = open.get(key);
      if (entry !== undefined) entry.listens = true;
      return entry !== undefined;
    },
    listens: (key) => open.get(key)?.listens === true,
    finish: (key, ready) => {
      const entry = open.get(key);
      open.delete(key);
      entry?.rest.finish(ready);
    },
    end: (instanceId) => {
      for (const [key, { wait }] of open) if (wait.instanceId === instanceId) open.delete(key);
    },
  };
}

function waitText({ kind, source, event }: Condition): string {
  if (kind === "agent-call")
    return `waits for a call${source === undefined ? "" : ` from ${source}`}`;
  const from = source === undefined ? "" : ` from ${source}`;
  return `waits for ${event === undefined ? "a webhook" : `the webhook ${event}`}${from}`;
}
