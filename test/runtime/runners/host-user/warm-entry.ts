import { writeSync } from "node:fs";
import { takeAssignment } from "../../../../src/runtime/harness/prewarm.ts";
import { scriptOf } from "../shell-runs.ts";

/** Waits as a run's process that was started ahead does, and becomes the shell script of its job. */
if (!(await takeAssignment(process.stdin))) process.exit(0);
// Not by the stream, which would leave the shell an output that doesn't wait for its reader.
writeSync(1, "\n");
const chunks: Buffer[] = [];
process.stdin
  .on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    if (!chunk.includes("\n")) return;
    const { title } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { title: string };
    // As the program itself, whose processes are known by what they were started with.
    if (title === "stays") {
      writeSync(1, "stays\n");
      return void setInterval(() => undefined, 1000);
    }
    const env = process.env as Record<string, string>;
    process.execve?.("/bin/sh", ["sh", "-c", scriptOf(title)], env);
  })
  .resume();
