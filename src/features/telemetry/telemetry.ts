import { concatMap, distinctUntilChanged, from, ignoreElements, map, type Observable } from "rxjs";
import type { RunEvent, RunRequest } from "../../../streams/vocabulary.ts";
import { isEqual } from "../../foundation/config/format-value.ts";
import type { TelemetryConfig } from "../../foundation/config/telemetry.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { messageOf } from "../../foundation/errors.ts";
import type { MeteredCall } from "../../foundation/contracts/spend.ts";
import { rateLimitedWarnings } from "../../foundation/contracts/rate-limited-warnings.ts";
import type { LostRun } from "../../foundation/store/recover.ts";
import type { Pipeline } from "./pipeline.ts";

/** A collector that is down causes one warning an hour. */
const warnEveryMs = 3_600_000;

/**
 * Sends the spans of runs to the collector of `[telemetry]`. The packages of OpenTelemetry are loaded with the first
 * config that has one.
 */
export function createTelemetry(context: SchedulerContext, onDropped: (count: number) => void) {
  const { project$ } = context;
  const warn = rateLimitedWarnings(context.warn, Date.now, warnEveryMs);
  let config: TelemetryConfig | null = null;
  let pipeline: Pipeline | null = null;
  const use = async (next: TelemetryConfig | null): Promise<void> => {
    if (isEqual(config, next)) return;
    const before = pipeline;
    config = next;
    pipeline =
      next && (await import("./pipeline.ts")).createPipeline(context, next, { onDropped, warn });
    await before?.close();
  };
  return {
    /** Before the first event. */
    open: (): Promise<void> => use(project$.value.telemetry),
    /** Follows the project's config. */
    change$: project$.pipe(
      map(({ telemetry }) => telemetry),
      distinctUntilChanged<TelemetryConfig | null>(isEqual),
      concatMap((next) =>
        from(use(next).catch((error: unknown) => context.warn(messageOf(error)))),
      ),
      ignoreElements(),
    ) satisfies Observable<never>,
    /** Takes events without secrets. */
    onEvent: (event: RunEvent): void => pipeline?.onEvent(event),
    onCall: (call: MeteredCall): void => pipeline?.onCall(call),
    onLost: (lost: readonly LostRun[], at: number): void => pipeline?.onLost(lost, at),
    /** The value of `TRACEPARENT` in the run; undefined if nothing is sent. */
    traceparent: (run: RunRequest): string | undefined => pipeline?.traceparent(run),
    /** Sends the waiting spans, within a short time limit. */
    close: async (): Promise<void> => pipeline?.close(),
  };
}

export type Telemetry = ReturnType<typeof createTelemetry>;
