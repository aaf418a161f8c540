import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pause } from "../../../helpers/pause.ts";

const program = join(import.meta.dirname, "strangers.ts");

/** Runs something while strangers hold so many connections to a port or a socket's path, and attack by them. */
export async function withStrangers<T>(
  address: string,
  connections: number,
  during: () => Promise<T>,
) {
  const child = spawn(process.execPath, [program, address, String(connections)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let closed = 0;
  child.stdout.on("data", (dots: Buffer) => (closed += dots.length));
  try {
    // The first closed one shows that the attack goes on.
    await once(child.stdout, "data");
    await pause(1_000, "the attack goes on");
    const result = await during();
    /** Connections that the server closed are counted. */
    return { result, closed };
  } finally {
    child.kill();
  }
}
