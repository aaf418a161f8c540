/**
 * Given to a Node process by `--import`: at its end it writes the modules that it loaded, a URL a line, and below them
 * the names of those of Node itself, to the file that AL_TEST_LOADS names.
 */
import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";

const loaded: string[] = [];

registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) loaded.push(url);
    return next(url, context);
  },
});

process.on("exit", () => {
  const file = process.env.AL_TEST_LOADS;
  const own = Reflect.get(process, "moduleLoadList") as readonly string[];
  if (file !== undefined) writeFileSync(file, [...loaded, ...own].join("\n"));
});
