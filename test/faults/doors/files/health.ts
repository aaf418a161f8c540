import { createServer } from "node:http";
import { fileURLToPath, pathToFileURL } from "node:url";
import { startProgram } from "../../../bench/hop.ts";

/** How long a request took, and one at the same moment to a server that does nothing, in ms. */
export type HealthSample = readonly [health: number, bare: number];

/** Requests the scheduler's health in processes of their own until `end`. */
export async function watchHealth(stack: AsyncDisposableStack, url: string) {
  const program = fileURLToPath(import.meta.url);
  const bare = await startProgram(stack, program);
  const { stdin, stdout } = await startProgram(stack, program, `${url}/health`, bare.said);
  const samples: HealthSample[] = [];
  let text = "";
  stdout.on("data", (chunk: Buffer) => {
    const lines = (text + chunk.toString()).split("\n");
    text = lines.pop() ?? "";
    samples.push(...lines.map((line) => JSON.parse(line) as HealthSample));
  });
  return {
    samples,
    /** How much longer than the slowest bare request beside it any took, in ms. */
    worst: (): number =>
      Math.max(
        ...samples.map(([ms], at) => {
          const beside = samples.slice(Math.max(0, at - 3), at + 4).map(([, bareMs]) => bareMs);
          return ms - Math.max(...beside);
        }),
      ),
    end: () => stdin.end(),
  };
}

async function timed(url: string): Promise<number> {
  const began = performance.now();
  await (await fetch(url)).text();
  return performance.now() - began;
}

async function sample(urls: readonly string[]): Promise<void> {
  process.stdout.write(`${JSON.stringify(await Promise.all(urls.map(timed)))}\n`);
  setTimeout(() => void sample(urls), 50);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const urls = process.argv.slice(2);
  if (urls.length > 0) await sample(urls);
  else {
    const server = createServer((_request, response) => response.end()).listen(0, "127.0.0.1", () =>
      process.stdout.write(`http://127.0.0.1:${(server.address() as { port: number }).port}\n`),
    );
  }
}
