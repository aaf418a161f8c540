import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pause } from "../helpers/pause.ts";
import { withBare, withFolder } from "./floors.ts";
import { repeated } from "./repeated.ts";

/** Changes a file so many times; how long it takes each time until a bare watch in another process has told, in ms. */
export function bareChanges(
  times: number,
  change: (path: string, n: number) => Promise<void>,
): Promise<number[]> {
  return withFolder(async (dir) => {
    const path = join(dir, "file");
    await writeFile(path, "");
    return withBare("bare-watch.ts", [dir], ({ stdout }) =>
      repeated(times, async (n) => {
        const told = once(stdout, "data");
        const began = performance.now();
        await change(path, n);
        await told;
        const delay = performance.now() - began;
        await pause(50, "one write may be told of more than once");
        return delay;
      }),
    );
  });
}
