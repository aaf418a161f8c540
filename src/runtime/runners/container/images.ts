import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  from,
  lastValueFrom,
  map,
  of,
  switchMap,
  timer,
  finalize,
  ReplaySubject,
  share,
} from "rxjs";
import type { Observable } from "rxjs";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { BuildEvent } from "../../../../streams/vocabulary.ts";
import { engineReason, isUnreachable, type Engine } from "./engine.ts";
import { agentImage, lastGoodImage, type AgentImageOptions } from "./image/agent-image.ts";
import type { ImageEvent } from "./image/build.ts";
import { defaultImage } from "./image/engine-images.ts";
import { baseImage, type ImageConfig } from "./image/default-image.ts";
import { installedProgram, type Program } from "./image/program.ts";

/** The images that a project's agents run in. */
export type AgentImages = ReturnType<typeof createAgentImages>;

export interface AgentImagesOptions {
  readonly engine: Engine;
  readonly projectDir: string;
  /** The folder of the program's package.json. */
  readonly programDir: string;
  /** The active `[local]`. */
  readonly local: () => ImageConfig;
  /** The only image that is built automatically; by default `al-agent:latest`. */
  readonly defaultImage?: string;
  /** Time between attempts to reach the engine, in ms: the first, then doubled up to the last. */
  readonly retryMs?: { readonly first: number; readonly last: number };
}

export function createAgentImages(options: AgentImagesOptions) {
  const { engine, projectDir, programDir, local } = options;
  const builtByItself = options.defaultImage ?? defaultImage;
  const retryMs = options.retryMs ?? { first: 1000, last: 30_000 };
  const shared = singleFlight();
  const failures: AgentImageOptions["failures"] = new Map();
  let program: Promise<Program> | null = null;
  const programOnce = () => (program ??= installedProgram(programDir));

  const base = (): Observable<ImageEvent> => {
    const config = local();
    const key = JSON.stringify([config.image, config.base]);
    const sources = { engine, programDir, program: programOnce, builtByItself };
    return shared(key, () => baseImage(sources, config));
  };
  const agentSources = { engine, projectDir, builtByItself, shared, failures };
  const imageOf = (agent: AgentConfig, again: boolean): Observable<ImageEvent> =>
    defer(() => engine.ping()).pipe(
      switchMap(base),
      switchMap((event) =>
        event.type === "image" && agent.dockerfileHash !== null
          ? agentImage(agent, event, { ...agentSources, again })
          : of(event),
      ),
    );
  const idOf = (event$: Observable<ImageEvent>): Promise<string> =>
    lastValueFrom(
      event$.pipe(
        filter((event) => event.type === "image"),
        map(({ id }) => id),
      ),
    );

  const lastGood = async (agent: AgentConfig): Promise<string | null> =>
    agent.dockerfileHash === null ? null : lastGoodImage(engine, projectDir, agent.name);

  return {
    /**
     * Prepares the agent's image: `build-started` and `build-progress` only if something is built, and always
     * `build-finished`. While the engine can't be reached, emits that once, retries, and completes only once it can.
     * Cold, never errors; unsubscribing aborts a build without other subscribers.
     */
    prepare: (agent: AgentConfig): Observable<BuildEvent> =>
      prepared(
        () => imageOf(agent, true),
        () => lastGood(agent),
        retryMs,
      ),
    /**
     * Id of the image for a run that starts now: the current one, after waiting for its build; after a failed build the
     * last good one. Rejects with a Problem if there was never a good one.
     */
    imageFor: async (agent: AgentConfig): Promise<string> => {
      try {
        return await idOf(imageOf(agent, false));
      } catch (error) {
        const good = isUnreachable(error) ? null : await lastGood(agent);
        if (good === null) throw error;
        return good;
      }
    },
  };
}

/** The log has the steps of a build once, for the agent that began it. */
function asJoined(event$: Observable<ImageEvent>): Observable<ImageEvent> {
  return event$.pipe(
    filter(({ type }) => type !== "build-progress"),
    map((event) =>
      event.type === "build-started"
        ? { type: event.type, text: `${event.text}, which was started for another agent` }
        : event,
    ),
  );
}

function prepared(
  image: () => Observable<ImageEvent>,
  lastGood: () => Promise<string | null>,
  retryMs: { readonly first: number; readonly last: number },
): Observable<BuildEvent> {
  const attempt = (waitMs: number, reported: string | null): Observable<BuildEvent> =>
    defer(image).pipe(
      map((event) => (event.type === "image" ? finished(null, true) : event)),
      catchError((error: unknown) => {
        const reason = engineReason(error);
        if (!isUnreachable(error)) {
          return from(lastGood().catch(() => null)).pipe(
            map((good) => finished(reason, good !== null)),
          );
        }
        const next = Math.min(waitMs * 2, retryMs.last);
        const later = timer(waitMs).pipe(switchMap(() => attempt(next, reason)));
        return concat(reason === reported ? EMPTY : of(finished(reason, false)), later);
      }),
    );
  return attempt(retryMs.first, null);
}

function finished(error: string | null, usable: boolean): BuildEvent {
  return { type: "build-finished", error, usable };
}

/**
 * Shares a build among all concurrent subscribers of one key: a later one gets the events so far. The build is canceled
 * when the last one unsubscribes, and forgotten when it ends.
 */
function singleFlight() {
  const running = new Map<string, Observable<ImageEvent>>();
  return (key: string, build: () => Observable<ImageEvent>): Observable<ImageEvent> =>
    defer(() => {
      const there = running.get(key);
      if (there !== undefined) return asJoined(there);
      const shared$ = build().pipe(
        finalize(() => running.delete(key)),
        share({ connector: () => new ReplaySubject<ImageEvent>() }),
      );
      running.set(key, shared$);
      return shared$;
    });
}
