import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/**
 * Loaded into a program from outside (`NODE_OPTIONS=--import`): the system has AL_WATCHES_LEFT watches to give, then it
 * answers ENOSPC.
 */
let left = Number(process.env.AL_WATCHES_LEFT ?? "0");
const watch = fs.watch;

fs.watch = ((...args: Parameters<typeof watch>) => {
  if (left-- > 0) return watch(...args);
  const [path] = args;
  throw Object.assign(new Error(`ENOSPC: System limit reached, watch '${String(path)}'`), {
    code: "ENOSPC",
    syscall: "watch",
    errno: -28,
  });
}) as typeof watch;
syncBuiltinESMExports();
