import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Prints what the process holds after a garbage collection, in bytes, for each line on standard input. */
export function answerMemory(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  process.stdin.on("data", () => {
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    process.stdout.write(`${heapUsed + external}\n`);
  });
}
