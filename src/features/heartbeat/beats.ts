import { exhaustMap, ignoreElements, timer } from "rxjs";
import type { Observable } from "rxjs";
import { rateLimitedWarnings } from "../../foundation/contracts/rate-limited-warnings.ts";
import { checkHealth } from "./health.ts";
import type { HealthDeps } from "./health.ts";
import type { Pinger } from "./pinger.ts";

export interface BeatsDeps {
  readonly health: HealthDeps;
  readonly pinger: Pick<Pinger, "ping">;
  /** The project's `[heartbeat].url` as it is now; null for none. */
  readonly url: () => string | null;
  readonly warn: (message: string) => void;
  /** The first check comes this late, in ms: a start with a thousand agents keeps the loop busy. */
  readonly firstMs?: number;
  /** Between two checks, in ms. */
  readonly everyMs?: number;
}

/** Pings the project's monitor once a minute while the scheduler is well: without a ping the monitor raises the alarm. */
export function beats({
  health,
  pinger,
  url,
  warn,
  firstMs = 10_000,
  everyMs = 60_000,
}: BeatsDeps): Observable<never> {
  const warnOf = rateLimitedWarnings(warn, health.now);
  const beat = async (): Promise<void> => {
    // Without a monitor nothing is measured.
    if (url() === null) return;
    const { lagMs, problem } = await checkHealth(health);
    const address = url();
    if (problem !== null) {
      const why = `no heartbeat is sent while the scheduler is not well: ${problem.text}`;
      return warnOf(problem.about, why);
    }
    if (address !== null)
      pinger.ping({ owner: "the project", url: address }, { type: "well", lagMs });
  };
  return timer(firstMs, everyMs).pipe(exhaustMap(beat), ignoreElements());
}
