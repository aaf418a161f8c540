import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { listen } from "../../../helpers/listen.ts";
import type { HostileRun } from "./attack.ts";

/** Starts it with a provider that answers the model `good` and no other. */
export async function startSockets(stack: AsyncDisposableStack, folder: string, count: number) {
  const provider = createServer((request, response) => {
    const isGood = request.headers.authorization?.endsWith("good") ?? false;
    request.resume().once("end", () => isGood && response.end('{"choices":[]}'));
  });
  const host = `127.0.0.1:${await listen(provider)}`;
  stack.defer(() => {
    provider.closeAllConnections();
    provider.close();
  });
  const program = join(import.meta.dirname, "sockets-server.ts");
  const child = spawn(process.execPath, [program, `http://${host}`, folder, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  stack.defer(() => void child.kill());
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { port, opened } = JSON.parse(line.toString()) as { port: number; opened: HostileRun[] };
  return {
    runs: opened,
    /** Of the provider, as runs address it. */
    host,
    url: `http://127.0.0.1:${port}`,
    /** The most memory that was resident so far, in MB. */
    peakMb: async (): Promise<number> => {
      const status = await readFile(`/proc/${child.pid ?? 0}/status`, "utf8");
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    },
  };
}
