import {
  attack,
  hostileShapes,
  keyShapes,
  type HostileRun,
} from "../faults/load/hostile-runs/attack.ts";

/** Attacks from all runs at once, until it is killed. Arguments: their sockets as JSON, and `keys` for objects with many keys. */
const runs = JSON.parse(process.argv[2] ?? "[]") as readonly HostileRun[];
const shapes = process.argv[3] === "keys" ? keyShapes() : hostileShapes();
for (const run of runs) attack(run, shapes, new AbortController().signal);
process.stdout.write("{}\n");
