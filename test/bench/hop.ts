import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { residentMb } from "./with-scheduler.ts";

/** A process that requests and answers pass through. */
export interface Hop {
  /** Resident memory, in MB. */
  readonly residentMb: () => Promise<number>;
  /** Memory after a garbage collection, in MB. */
  readonly heldMb: () => Promise<number>;
}

export interface StartedHop extends Hop {
  /** The JSON that the program printed first. */
  readonly said: Readonly<Record<string, string | number>>;
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** Starts a program of this folder that prints a line of JSON first; it ends with `children`. */
export async function startHop(
  children: AsyncDisposableStack,
  program: string,
  ...args: readonly string[]
): Promise<StartedHop> {
  const path = join(import.meta.dirname, program);
  const child: Child = spawn(process.execPath, [path, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  children.defer(async () => {
    child.kill();
    await exited;
  });
  const ended = exited.then(() => Promise.reject(new Error(`${program} ended`)));
  const [first] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer];
  return {
    said: JSON.parse(first.toString()) as StartedHop["said"],
    residentMb: () => residentMb(child.pid ?? 0),
    heldMb: async () => {
      child.stdin.write("\n");
      const [text] = (await once(child.stdout, "data")) as [Buffer];
      return Number(text.toString()) / 1e6;
    },
  };
}

/** Total over several processes. */
export async function totalMb(hops: readonly Hop[], read: keyof Hop): Promise<number> {
  const each = await Promise.all(hops.map((hop) => hop[read]()));
  return each.reduce((sum, mb) => sum + mb, 0);
}
