import { combineLatest, concat, map, of, switchMap, timer } from "rxjs";
import type { Observable, SchedulerLike } from "rxjs";
import type { AgentConfig } from "../agent-config.ts";
import { runtimes } from "../runtimes.ts";
import type { QueueLimits, QueueMode } from "./queue-latest.ts";

export interface LimitSources {
  /** The active config (null without one), and whether the agent's directory exists. */
  readonly agent$: Observable<{ config: AgentConfig | null; present: boolean }>;
  readonly enabled$: Observable<boolean>;
  /** Whether the image for the agent's runs exists. */
  readonly usable$: Observable<boolean>;
  /** Whether the agent waits for money, or all new work is paused. */
  readonly waits$: Observable<boolean>;
  readonly draining$: Observable<boolean>;
  /** Number of live runs that the queue did not start. Emits at once. */
  readonly beside$: Observable<number>;
  readonly scheduler: SchedulerLike;
}

/** How long the queue of a removed agent is held, in ms: a checkout or a rename restores it within that. */
const comebackMs = 60_000;
/** An agent without a config gets no new work; this many items from before a restart are kept. */
const unknownSize = 1000;

/**
 * The limits of an agent's queue: open while it is there, enabled, valid and ready; held otherwise; closed a minute
 * after its directory went.
 *
 *     agent:  ─there──gone──────────gone─there───
 *     mode:   ─open───held──60 s──closed─open────
 */
export function queueLimits(sources: LimitSources): Observable<QueueLimits> {
  const presence$ = sources.agent$.pipe(
    switchMap(({ config, present }): Observable<Presence> => {
      const held = of<Presence>({ config, mode: "held" });
      if (present) return config === null ? held : of({ config, mode: "open" });
      const closed: Presence = { config, mode: "closed" };
      return concat(held, timer(comebackMs, sources.scheduler).pipe(map(() => closed)));
    }),
  );
  const { enabled$, usable$, waits$, draining$, beside$ } = sources;
  return combineLatest([presence$, enabled$, usable$, waits$, draining$, beside$]).pipe(
    map(([{ config, mode }, enabled, usable, waits, draining, beside]) => {
      const mayRun = enabled && !waits && !draining && canRun(config, usable);
      return {
        ...limitsOf(config),
        scale: Math.max(0, (config?.scale ?? 0) - beside),
        mode: mode === "open" && !mayRun ? "held" : mode,
      };
    }),
  );
}

function limitsOf(
  config: AgentConfig | null,
): Pick<QueueLimits, "size" | "keys" | "hasSessions" | "ticksWait"> {
  if (config === null) return { size: unknownSize };
  const { queueSize: size, concurrency, session, overlap } = config;
  const keys = concurrency === null ? {} : { keys: concurrency };
  const sessions = session === null ? {} : ({ hasSessions: true } as const);
  return { size, ...keys, ...sessions, ...(overlap === "wait" && { ticksWait: true }) };
}

/** Whether a run could be started with this config, if it has an image to use (`usable`) or needs none. */
function canRun(config: AgentConfig | null, usable: boolean): boolean {
  if (config === null) return true;
  return config.scale !== 0 && (usable || !runtimes[config.runtime.type].needsImage);
}

interface Presence {
  readonly config: AgentConfig | null;
  readonly mode: QueueMode;
}
