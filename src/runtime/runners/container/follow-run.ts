import { setTimeout as wait } from "node:timers/promises";
import type { Container } from "dockerode";
import type { RunnerEvent } from "../../../../streams/runs/runner.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { graceFor } from "../../wire/run-stop.ts";
import type { RunOutput } from "../run-output.ts";
import { unlessAborted, type RunSubscriber } from "../as-run.ts";
import type { ContainerRunnerOptions } from "./container-options.ts";
import { engineReason, isUnreachable, statusOf, type Engine } from "./engine.ts";
import { liveOutput, restOf, type LiveOutput } from "./live-output.ts";
import { endedExit, lostExit, type Ending } from "../run-exit.ts";
import { endWhenAsked } from "./stop-container.ts";

/** A stream of the engine; all of them can be destroyed, which the common type lacks. */
export type OutputStream = NodeJS.ReadableStream & { destroy?(): void };

/** The engine also gives an exit code for a process ended by a signal. */
type ContainerEnding = Ending & { readonly exitCode: number };

/** A started container. */
export interface StartedContainer {
  readonly agent: AgentConfig;
  /** The container's name. */
  readonly container: string;
  /** The first stream of its output, from its beginning. */
  readonly source: OutputStream;
  readonly output: RunOutput;
}

/** A started container, and the dependencies to follow it to its end. */
interface FollowedRun extends StartedContainer, Omit<RunSubscriber, "emit"> {
  readonly engine: Engine;
  readonly graceMs: number;
  /** How long to wait for an engine that went away, in ms. */
  readonly engineGraceMs: number;
}

const defaultEngineGraceMs = 60_000;

/**
 * Exit codes of a process ended by KILL or TERM from outside, such as by an engine that shuts down, and the code of an
 * engine that does not know it.
 */
const endedFromOutside = new Set([137, 143, 255]);

/** Follows a started container and emits its exit, unless its subscriber left first. */
export async function followRun(
  started: StartedContainer,
  { emit, stopping, left }: RunSubscriber,
  { engine, graceMs, engineGraceMs = defaultEngineGraceMs }: ContainerRunnerOptions,
): Promise<void> {
  const { agent, output } = started;
  const limits = { graceMs: graceFor(agent, graceMs), engineGraceMs };
  try {
    const exit = await exitOf({ ...started, ...limits, engine, stopping, left });
    if (exit !== null) emit(exit);
  } catch (error) {
    emit(lostExit(engineReason(error), output.end()));
  }
}

/**
 * A run's exit, decided by `wait` and `inspect` and not by the end of its output; null if its subscriber left first. If
 * the engine returns with the container alive, it is followed again; otherwise the exit is `lost`.
 */
async function exitOf(run: FollowedRun): Promise<RunnerEvent | null> {
  const live = liveOutput(run.output);
  for (let source = run.source; ;) {
    const ending = await followOnce(run, live, source);
    if (ending === "left") return null;
    if (ending !== "engine-gone") {
      return endedExit(ending, run.output.end(), run.output.handedBack());
    }
    const state = await stateAfterOutage(run);
    if (state === "left") return null;
    if (state === "there") {
      source = await outputAgain(run, live);
      continue;
    }
    finishOutput(run.output);
    return lostExit(outageReasons[state], run.output.end());
  }
}

const outageReasons = {
  silent: "the engine went down during the run, and did not come back in time",
  ended: "the engine went down during the run, and the run ended with it",
} as const;

async function followOnce(
  run: FollowedRun,
  live: LiveOutput,
  source: OutputStream,
): Promise<ContainerEnding | "left" | "engine-gone"> {
  const reading = live.read(source);
  const stopEnding = endWhenAsked(run.engine, run.container, run);
  try {
    const ending = await unlessAborted(
      Promise.race([endingOf(run), afterSilence(reading.closed)]),
      run.left,
    );
    if (ending === null) return "left";
    if (ending === "engine-gone" || (await diedWithEngine(run, ending))) return "engine-gone";
    await unlessAborted(restOf(reading), run.left);
    finishOutput(run.output);
    return ending;
  } catch (error) {
    if (isUnreachable(error)) return "engine-gone";
    throw error;
  } finally {
    stopEnding();
    source.destroy?.();
  }
}

function finishOutput({ stdout, stderr }: RunOutput): void {
  stdout.end();
  stderr.end();
}

async function endingOf({ engine, container }: FollowedRun): Promise<ContainerEnding> {
  const { StatusCode } = (await engine.streams().getContainer(container).wait()) as {
    StatusCode: number;
  };
  try {
    const { State } = await engine.calls().getContainer(container).inspect();
    const finishedAt = Date.parse(State.FinishedAt);
    // The engine writes the year 1 for an unknown time.
    const endedAt = finishedAt > 0 ? finishedAt : null;
    return { exitCode: State.ExitCode, signal: null, outOfMemory: State.OOMKilled, endedAt };
  } catch (error) {
    // The container was removed from outside: only the answer of `wait` is left.
    if (statusOf(error) !== 404) throw error;
    return { exitCode: StatusCode, signal: null, outOfMemory: false, endedAt: null };
  }
}

const silenceMs = 2000;

/**
 * `wait` never settles if its connection ends without an answer. The output's connection ends with it, or with the
 * container: then `wait` has this long to settle.
 */
async function afterSilence(closed: Promise<void>): Promise<"engine-gone"> {
  await closed;
  return wait(silenceMs, "engine-gone");
}

/** An engine that shuts down ends its containers first, and may still report that as an ordinary exit. */
async function diedWithEngine(
  run: FollowedRun,
  { exitCode, outOfMemory }: ContainerEnding,
): Promise<boolean> {
  if (run.stopping.aborted || outOfMemory || !endedFromOutside.has(exitCode)) return false;
  return run.engine.ping().then(
    () => false,
    () => true,
  );
}

const pollMs = 500;

/** State of the container once the engine answers again; `there` if its exit can still be read. */
async function stateAfterOutage(run: FollowedRun): Promise<"there" | "ended" | "silent" | "left"> {
  const deadline = performance.now() + run.engineGraceMs;
  while (!run.left.aborted) {
    try {
      const { State } = await containerOf(run).inspect();
      const own = run.stopping.aborted || !endedFromOutside.has(State.ExitCode);
      return State.Running || own ? "there" : "ended";
    } catch (error) {
      if (statusOf(error) === 404) return "ended";
      if (performance.now() > deadline) return "silent";
    }
    await unlessAborted(wait(pollMs), run.left);
  }
  return "left";
}

function containerOf({ engine, container }: FollowedRun): Container {
  return engine.calls().getContainer(container);
}

/** The engine's log of a run restarts at 64 MB, and is longer than the output read from it. */
const longestReplay = 32 * 1024 * 1024;

async function outputAgain(run: FollowedRun, live: LiveOutput): Promise<OutputStream> {
  const whole = live.bytes() < longestReplay;
  if (whole) live.again();
  return followLogs(run.engine, run.container, whole ? "all" : 0);
}

/** The engine's log of a container, multiplexed: all so far, or its given number of last lines, and then new output. */
export function followLogs(
  engine: Engine,
  container: string,
  tail: "all" | number,
): Promise<OutputStream> {
  const lines = tail === "all" ? {} : { tail };
  return engine
    .streams()
    .getContainer(container)
    .logs({ follow: true, stdout: true, stderr: true, ...lines });
}
