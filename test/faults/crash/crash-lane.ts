import { readFileSync } from "node:fs";
import { crashOnce, keyPath, startArgs, type Lane } from "./crash-cycle.ts";
import {
  brokenPromises,
  deadLocks,
  look,
  nothingPromised,
  remember,
  unfinished,
} from "./crash-model.ts";
import type { Found } from "./crash-model.ts";
import { plansBy, randomBy } from "./crash-plan.ts";
import { crashProject } from "./crash-project.ts";
import { startDoomed } from "./crash-scheduler.ts";
import { pause } from "../../helpers/pause.ts";

/** The result of a chain of cycles. */
export interface LaneResult {
  /** How often each point did end the program. */
  readonly struck: Readonly<Record<string, number>>;
  /** The outcomes of all work, and how often each. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Nothing of a project may take longer to be done with than this, in ms. */
const idleMs = 60_000;
const keyPattern = /^[\w-]{43}\n$/;

/**
 * One project through a chain of crashes. Work lives over several of them: what one scheduler accepts, the next may
 * run and a third record. Rejects with the promises that were broken, and the cycle and the seed that broke them, and
 * then stops the other chains too.
 */
export async function crashLane(
  seed: number,
  cycles: number,
  stop: AbortController,
): Promise<LaneResult> {
  const lane = await newLane();
  const { project } = lane;
  const plans = plansBy(randomBy(seed));
  let now = "the end";
  const cyclesAndEnd = async (): Promise<Found> => {
    for (let cycle = 0; cycle < cycles && !stop.signal.aborted; cycle++) {
      const plan = plans.next().value;
      now = `cycle ${cycle}, ${JSON.stringify(plan)}`;
      await crashOnce(lane, plan);
      check(lane);
    }
    now = "the end";
    return wholeLife(lane);
  };
  const { rows } = await cyclesAndEnd().catch((error: unknown) => {
    stop.abort();
    const what = `AL_CRASH_SEED=${seed}, ${now}, in ${project.dir}: ${String(error)}`;
    throw new Error(what, { cause: error });
  });
  await project.remove();
  const outcomes = Map.groupBy(rows, ({ outcome }) => String(outcome));
  const counts = [...outcomes].map(([outcome, of]) => [outcome, of.length] as const);
  return { struck: Object.fromEntries(lane.struck), outcomes: Object.fromEntries(counts) };
}

/** A chain on a project that worked once; as that ended by itself, the compiled code is kept for all later starts. */
export async function newLane(): Promise<Lane> {
  const project = await crashProject();
  const lane: Lane = { project, promised: nothingPromised(), struck: new Map(), sent: 0 };
  await wholeLife(lane);
  return lane;
}

/** While nobody lives: every promise was kept so far, and no file is half of one. */
export function check({ project, promised }: Lane): void {
  const found = look(project);
  mustBeNone([...brokenPromises(promised, found)]);
  remember(promised, found);
  const key = keyOf(keyPath(project));
  if (key !== null && !keyPattern.test(key)) throw new Error(`the key's file holds "${key}"`);
}

function keyOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function mustBeNone(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.slice(0, 10).join("\n"));
}

/** A scheduler that is let live until all is done: everything that waited has run, and no lock is held. */
export async function wholeLife(lane: Lane): Promise<Found> {
  const { project, promised, env } = lane;
  const scheduler = startDoomed(project, startArgs, null, env?.());
  try {
    if ((await scheduler.ready) === null) throw new Error(scheduler.output());
    mustBeNone(deadLocks(look(project)));
    let left = unfinished(look(project));
    for (const end = Date.now() + idleMs; left.length > 0 && Date.now() < end;) {
      await pause(200, "it is asked again");
      left = unfinished(look(project));
    }
    mustBeNone(left);
    scheduler.kill("SIGTERM");
    const code = await scheduler.gone;
    if (code !== 0) throw new Error(`it ended with ${code}: ${scheduler.output()}`);
  } finally {
    scheduler.kill();
  }
  check(lane);
  const found = look(project);
  mustBeNone([...brokenPromises(promised, found)]);
  return found;
}
