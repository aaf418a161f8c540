import { writeSync } from "node:fs";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";

/** Prints a run's events as lines. `isKilledWhenReady` kills this process as the run says `ready`, before it can end. */
export const printed = (isKilledWhenReady: boolean) => (event: RunnerEvent) => {
  writeSync(1, `${JSON.stringify(event)}\n`);
  const isReady = event.type === "output" && event.entry.msg === "ready";
  if (isKilledWhenReady && isReady) process.kill(process.pid, "SIGKILL");
};
