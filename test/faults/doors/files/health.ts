import { fileURLToPath, pathToFileURL } from "node:url";
import { startProgram } from "../../../bench/hop.ts";
import { pause } from "../../../helpers/pause.ts";

/** Requests a scheduler's health in a process of its own, until the stack ends; how long each took so far, in ms. */
export async function watchHealth(stack: AsyncDisposableStack, url: string) {
  const times: number[] = [];
  let text = "";
  const program = fileURLToPath(import.meta.url);
  const { stdout } = await startProgram(stack, program, `${url}/health`);
  stdout.on("data", (chunk: Buffer) => {
    const lines = (text + chunk.toString()).split("\n");
    text = lines.pop() ?? "";
    times.push(...lines.map(Number));
  });
  return times;
}

async function sample(url: string): Promise<void> {
  const began = performance.now();
  await (await fetch(url)).text();
  process.stdout.write(`${performance.now() - began}\n`);
  await pause(50, "the next sample");
  return sample(url);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  await sample(process.argv[2] ?? "");
