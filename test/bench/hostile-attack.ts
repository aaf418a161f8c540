import { attack, hostileShapes, type HostileRun } from "../faults/load/hostile-runs/attack.ts";

/** Attacks from all runs at once, until it is killed. Argument: their sockets as JSON. */
const runs = JSON.parse(process.argv[2] ?? "[]") as readonly HostileRun[];
for (const run of runs) attack(run, hostileShapes(), new AbortController().signal);
process.stdout.write("{}\n");
