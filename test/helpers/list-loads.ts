/**
 * Given to a Node process by `--import`: at its end it writes the modules that it loaded, a URL a line, and below them
 * the names of those of Node itself and the files that it opened synchronously, to the file that AL_TEST_LOADS names.
 */
import fs, { writeFileSync } from "node:fs";
import { registerHooks, syncBuiltinESMExports } from "node:module";

const loaded: string[] = [];

registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) loaded.push(url);
    return next(url, context);
  },
});

const opened: string[] = [];
const { openSync } = fs;
fs.openSync = (path, ...given) => {
  opened.push(`opened ${String(path)}`);
  return openSync(path, ...given);
};
syncBuiltinESMExports();

process.on("exit", () => {
  const file = process.env.AL_TEST_LOADS;
  const own = Reflect.get(process, "moduleLoadList") as readonly string[];
  if (file !== undefined) writeFileSync(file, [...loaded, ...own, ...opened].join("\n"));
});
