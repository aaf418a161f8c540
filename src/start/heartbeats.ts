import { concat, defer, EMPTY, ignoreElements, merge, NEVER, race, takeUntil, timer } from "rxjs";
import type { Observable } from "rxjs";
import type { RunEvent } from "../../streams/vocabulary.ts";
import { createSendRequest } from "../foundation/contracts/outgoing-request.ts";
import { beats } from "../features/heartbeat/beats.ts";
import { loopLag } from "../features/heartbeat/health.ts";
import { createPinger } from "../features/heartbeat/pinger.ts";
import { pingOf } from "../features/heartbeat/run-pings.ts";
import type { SchedulerContext, Services } from "./services.ts";

/** What monitors outside are pinged with: that the scheduler is well, and how its agents' runs begin and end. */
export interface Heartbeats {
  /** Takes events without secrets. */
  onEvent(event: RunEvent): void;
  /** Pings until `over$`; completes once the last pings are answered, or had some time for it. */
  until(over$: Observable<unknown>): Observable<never>;
}

/** How long a scheduler that stops waits for the answers of monitors, in ms. */
const lastPingsMs = 2_000;

export function createHeartbeats(
  { options, own: { store }, inputs: { project$, stopping$ } }: SchedulerContext,
  { observability: { status }, stopping, warn }: Services,
): Heartbeats {
  // A run by hand, without a scheduler, is none that a monitor waits for.
  if (options.onDemand === true) return { onEvent: () => undefined, until: () => EMPTY };
  const now = Date.now;
  const pinger = createPinger({ send: createSendRequest({ proxyEnv: options.env }), warn, now });
  // A scheduler that was alive after its stop is taken for one that died.
  const write = async (): Promise<void> => {
    if (stopping.phase() !== "draining") await store.settings.recordAlive(now());
  };
  const beat$ = beats({
    health: { loopLag, write, agents: () => status.agents(), now },
    pinger,
    url: () => project$.value.heartbeat,
    warn,
  });
  return {
    onEvent: (event) => {
      const url = status.agent(event.agent)?.config?.heartbeat ?? null;
      const ping = url === null ? null : pingOf(event);
      if (url !== null && ping !== null) pinger.ping({ owner: `agent ${event.agent}`, url }, ping);
    },
    until: (over$) =>
      concat(
        merge(beat$.pipe(takeUntil(stopping$)), NEVER).pipe(takeUntil(over$)),
        defer(() => race(pinger.idle(), timer(lastPingsMs))).pipe(ignoreElements()),
      ),
  };
}
