import type { StopReason } from "../../../../streams/outcomes.ts";
import { createInterface } from "node:readline";
import { Subject, Subscription } from "rxjs";
import type { RunNetwork } from "../../../../streams/run-network.ts";
import type { LogEntry, RunRequest } from "../../../../streams/vocabulary.ts";
import { printed } from "../print-events.ts";
import { aRunner } from "./support.ts";

/** The order to a scheduler in a process of its own, in a line; then comes `stop` or `leave`, a line each. */
export interface RemoteRun {
  readonly baseDir: string;
  readonly request: RunRequest;
  /** Goes on with a run that is there. */
  readonly resume?: { readonly last: LogEntry | null };
  /** The network of the run; open when absent. */
  readonly network?: RunNetwork;
  /** Kills this scheduler as the run says `ready`. */
  readonly isKilledWhenReady?: true;
}

const stop$ = new Subject<StopReason>();
const run = new Subscription();

function begin(given: RemoteRun): void {
  const { baseDir, request, resume, network = "open", isKilledWhenReady = false } = given;
  const runner = aRunner(baseDir, { network: () => network });
  const run$ = resume
    ? runner.resume({ request, last: resume.last }, stop$)
    : runner.run(request, stop$);
  run.add(
    run$.subscribe({
      next: printed(isKilledWhenReady),
      complete: () => process.stdin.destroy(),
    }),
  );
}

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "stop") stop$.next("killed");
  else if (line === "leave") run.unsubscribe();
  else begin(JSON.parse(line) as RemoteRun);
});
