import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { residentMb } from "./with-scheduler.ts";

/** A process that requests and answers pass through. */
export interface Hop {
  /** Resident memory, in MB. */
  readonly residentMb: () => Promise<number>;
  /** Memory after a garbage collection, in MB. */
  readonly heldMb: () => Promise<number>;
}

/** A process and the JSON that its program printed first. */
export interface StartedHop<T> extends Hop {
  readonly said: T;
}

/** Starts a program; resolves once it has printed something. It ends with `children`. */
export async function startProgram(
  children: AsyncDisposableStack,
  program: string,
  ...args: readonly string[]
) {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  children.defer(async () => {
    child.kill();
    await exited;
  });
  const ended = exited.then(() => Promise.reject(new Error(`${program} ended`)));
  const [first] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer];
  const { pid = 0, stdin, stdout } = child;
  return { pid, stdin, stdout, said: first.toString().trim() };
}

/** Starts a program, by its path from this folder, that prints a line of JSON first. */
export async function startHop<T>(
  children: AsyncDisposableStack,
  program: string,
  ...args: readonly string[]
): Promise<StartedHop<T>> {
  const path = join(import.meta.dirname, program);
  const { pid, stdin, stdout, said } = await startProgram(children, path, ...args);
  return {
    said: JSON.parse(said) as T,
    residentMb: () => residentMb(pid),
    heldMb: async () => {
      stdin.write("\n");
      const [text] = (await once(stdout, "data")) as [Buffer];
      return Number(text.toString()) / 1e6;
    },
  };
}

/** Total over several processes. */
export async function totalMb(hops: readonly Hop[], read: keyof Hop): Promise<number> {
  const each = await Promise.all(hops.map((hop) => hop[read]()));
  return each.reduce((sum, mb) => sum + mb, 0);
}
