import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { startProgram } from "../../../bench/hop.ts";
import { endServer, listen } from "../../../helpers/listen.ts";
import type { HostileRun } from "./attack.ts";

/** Starts it with a provider that answers the model `good` and no other. */
export async function startSockets(stack: AsyncDisposableStack, folder: string, count: number) {
  const provider = createServer((request, response) => {
    const isGood = request.headers.authorization?.endsWith("good") ?? false;
    request.resume().once("end", () => isGood && response.end('{"choices":[]}'));
  });
  const host = `127.0.0.1:${await listen(provider)}`;
  stack.defer(() => endServer(provider));
  const program = join(import.meta.dirname, "sockets-server.ts");
  const args = [`http://${host}`, folder, String(count)];
  const { pid, said } = await startProgram(stack, program, ...args);
  const { opened } = JSON.parse(said) as { opened: HostileRun[] };
  return {
    runs: opened,
    /** Of the provider, as runs address it. */
    host,
    /** The most memory that was resident so far, in MB. */
    peakMb: async (): Promise<number> => {
      const status = await readFile(`/proc/${pid}/status`, "utf8");
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    },
  };
}
