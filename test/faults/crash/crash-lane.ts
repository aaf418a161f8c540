import { readFileSync } from "node:fs";
import { keyPath, startArgs, type Lane } from "./crash-cycle.ts";
import {
  brokenPromises,
  deadLocks,
  look,
  nothingPromised,
  remember,
  unfinished,
} from "./crash-model.ts";
import type { Found } from "./crash-model.ts";
import { crashProject } from "./crash-project.ts";
import { startDoomed } from "./crash-scheduler.ts";
import { pause } from "../../helpers/pause.ts";

/** Nothing of a project may take longer to be done with than this, in ms. */
const idleMs = 60_000;
const keyPattern = /^[\w-]{43}\n$/;

/** A chain on a project that worked once; as that ended by itself, the compiled code is kept for all later starts. */
export async function newLane(): Promise<Lane> {
  const project = await crashProject();
  const lane: Lane = { project, promised: nothingPromised(), struck: new Set(), sent: 0 };
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
