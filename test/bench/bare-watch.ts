import { watch } from "node:fs";

/** The least that sees a file change: prints a line at each change in the folder that is its argument. */
const [dir = ""] = process.argv.slice(2);
watch(dir, () => process.stdout.write("changed\n"));
process.stdout.write("watching\n");
