import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/**
 * Loaded into a program from outside (`NODE_OPTIONS=--import`): the system has AL_WATCHES_LEFT watches to give, then
 * it answers as AL_WATCH_ERROR says, ENOSPC or EMFILE.
 */
const code = process.env.AL_WATCH_ERROR ?? "ENOSPC";
let left = Number(process.env.AL_WATCHES_LEFT ?? "0");
const watch = fs.watch;

fs.watch = ((...args: Parameters<typeof watch>) => {
  if (left-- > 0) return watch(...args);
  const [path] = args;
  throw Object.assign(new Error(`${code}: System limit reached, watch '${String(path)}'`), {
    ...{ code, syscall: "watch", errno: code === "ENOSPC" ? -28 : -24 },
  });
}) as typeof watch;
syncBuiltinESMExports();
