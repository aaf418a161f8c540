import type { Condition } from "../../../streams/coordination/condition.ts";
import type { Wait } from "../../../streams/coordination/waits.ts";
import type { Rest, Rests } from "./rests.ts";

/** The waits that are not answered, and the rest of the run that each is. */
export interface OpenWaits {
  /** The run rests from now on, and says what for; `looked` resolves when nothing came before, or it is answered. */
  begin(wait: Wait, looked: Promise<void>): void;
  get(key: string): Wait | undefined;
  has(key: string): boolean;
  /** Resolves when a wait looked back, at once for one that is over. */
  lookedBack(key: string): Promise<void>;
  /** Marks that only what is still to come can meet it. False when it is over already. */
  markIdle(key: string): boolean;
  isIdle(key: string): boolean;
  /** Ends the rest; `ready` is called once the run may go on, and never when it ended before. */
  finish(key: string, ready: () => void): void;
  /** The run is over. */
  end(instanceId: string): void;
}

interface OpenWait {
  readonly wait: Wait;
  readonly rest: Rest;
  readonly looked: Promise<void>;
  isIdle: boolean;
}

export function createOpenWaits(rests: Rests): OpenWaits {
  const open = new Map<string, OpenWait>();
  return {
    begin: (wait, looked) => {
      const text = waitText(wait.condition);
      const rest = rests.begin(wait.instanceId, { clockStands: true, text });
      open.set(wait.key, { wait, rest, looked, isIdle: false });
    },
    get: (key) => open.get(key)?.wait,
    has: (key) => open.has(key),
    lookedBack: (key) => open.get(key)?.looked ?? Promise.resolve(),
    markIdle: (key) => {
      const entry = open.get(key);
      if (entry !== undefined) entry.isIdle = true;
      return entry !== undefined;
    },
    isIdle: (key) => open.get(key)?.isIdle === true,
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
