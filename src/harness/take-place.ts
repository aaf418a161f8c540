import type { Readable } from "node:stream";
import type { RunPlace } from "../contracts/run-place.ts";

/**
 * Makes this process, which was started before its run, one that was started for it: it goes where the first line of
 * `input` says, with those variables and no others. The job comes after. False when the input ends before: there is no
 * run, and no reader for an error.
 */
export async function takePlace(input: Readable): Promise<boolean> {
  const line = await firstLine(input);
  if (line === null) return false;
  const { cwd, env } = JSON.parse(line) as RunPlace;
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  return true;
}

/** What comes after the line stays in the input. */
function firstLine(input: Readable): Promise<string | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const settle = () => {
      input.pause().off("data", take).off("end", ended).off("error", ended);
    };
    const take = (chunk: Buffer) => {
      const end = chunk.indexOf("\n");
      chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
      if (end === -1) return;
      settle();
      if (end + 1 < chunk.length) input.unshift(chunk.subarray(end + 1));
      resolve(Buffer.concat(chunks).toString("utf8"));
    };
    const ended = () => {
      settle();
      resolve(null);
    };
    input.on("data", take).once("end", ended).once("error", ended);
  });
}
