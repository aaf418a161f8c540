import { readFileSync } from "node:fs";

/** Linux counts in these for every process, whatever its clock: a hundredth of a second. */
const msPerTick = 10;

/** Processor time that a process took so far, all threads, in ms. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name before it is in brackets and may have spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}
