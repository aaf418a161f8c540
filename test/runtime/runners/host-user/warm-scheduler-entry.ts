import { warmRunner } from "./warm-support.ts";

/** A scheduler that keeps one process started ahead until it is killed. Arguments: folder of runs, language, user. */
const [, , baseDir = "", language = "", user = "$USER"] = process.argv;
warmRunner(language, baseDir).runner.prewarm([{ user, network: "open" }], 1);
setInterval(() => undefined, 1000);
