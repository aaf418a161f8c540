/**
 * Preloaded into a scheduler (`NODE_OPTIONS=--import`), so that what is counted is the program as it is shipped: how
 * many statements its store runs, which files it opens, and what keeps it alive. At each SIGUSR2 a line with the counts
 * since its start is appended to the file that AL_COUNTS names.
 */
import fs, { appendFileSync } from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { liveObjects } from "../helpers/live-objects.ts";
import type { Counts } from "./counted.ts";

const file = process.env.AL_COUNTS ?? "";
// What the scheduler starts is not counted.
delete process.env.NODE_OPTIONS;
delete process.env.AL_COUNTS;

let statements = 0;
let commits = 0;
const opened: string[] = [];

/** Counts the SQL that a method is called with, or that its object stands for. */
function counting(
  prototype: object,
  name: string,
  sqlOf: (self: object, args: unknown[]) => string,
) {
  const method = Reflect.get(prototype, name) as (...args: unknown[]) => unknown;
  const counted = function (this: object, ...args: unknown[]): unknown {
    statements++;
    if (sqlOf(this, args) === "COMMIT") commits++;
    return method.apply(this, args);
  };
  Reflect.set(prototype, name, counted);
}

for (const name of ["run", "get", "all", "iterate"]) {
  counting(StatementSync.prototype, name, (self) => (self as StatementSync).sourceSQL);
}
counting(DatabaseSync.prototype, "exec", (_self, [sql]) => String(sql));

function countOpening(module: object, name: string): void {
  const method = Reflect.get(module, name) as (...args: unknown[]) => unknown;
  Reflect.set(module, name, (...args: unknown[]) => {
    // A number is a file that is open already.
    if (typeof args[0] !== "number") opened.push(String(args[0]));
    return method(...args);
  });
}

for (const name of ["open", "readFile"]) countOpening(promises, name);
for (const name of ["openSync", "readFileSync"]) countOpening(fs, name);
syncBuiltinESMExports();

function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

const countsObjects = process.env.AL_COUNTS_OBJECTS === "1";
process.on("SIGUSR2", () => void append());

async function append(): Promise<void> {
  const objects = countsObjects ? await liveObjects() : 0;
  const counts: Counts = { statements, commits, opened, resources: resources(), objects };
  appendFileSync(file, `${JSON.stringify(counts)}\n`);
}
