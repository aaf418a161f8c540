import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { ToolApi } from "./api-call.ts";

/** The longest wait, in seconds: clients give up on a request after 60 s by default. */
const maxWait = 50;
/** How long between two requests for a run, in ms. */
const pollMs = 1_000;

export const waitInput = z
  .number()
  .min(0)
  .max(maxWait)
  .default(0)
  .meta({
    description: `How many seconds to wait for the run's end, at most ${maxWait}; ask again for a longer run`,
  });

/** Reads until the outcome is known, the seconds are over, or the client cancels. */
export async function untilEnded<Run extends { readonly outcome: string | null }>(
  seconds: number,
  read: () => Promise<Run>,
  { signal, progress }: Pick<ToolApi, "signal" | "progress">,
): Promise<Run> {
  const from = performance.now();
  for (;;) {
    const run = await read();
    const waited = (performance.now() - from) / 1000;
    if (run.outcome !== null || waited >= seconds) return run;
    progress(Math.floor(waited), seconds);
    await sleep(Math.min(pollMs, (seconds - waited) * 1000), undefined, { signal });
  }
}
