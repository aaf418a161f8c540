import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { plainProgram } from "./plain-program.ts";
import { secretOf } from "../features/webhooks/webhook-project.ts";

/** A process of bare parts: what the machine allows. */
export interface Bare {
  readonly pid: number;
  readonly stdout: Readable;
  /** The first line that it printed. */
  readonly said: string;
}

/** Starts a program of this folder, hands it on once it has printed something, and ends it. */
export async function withBare<T>(
  program: string,
  args: readonly string[],
  use: (bare: Bare) => Promise<T>,
): Promise<T> {
  const child = spawn(process.execPath, [plainProgram(program), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  try {
    const ended = exited.then(() => Promise.reject(new Error(`${program} ended`)));
    const [said] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer];
    return await use({ pid: child.pid ?? 0, stdout: child.stdout, said: said.toString().trim() });
  } finally {
    child.kill();
    await exited;
  }
}

/** Hands on a folder that is gone afterwards. */
export async function withFolder<T>(use: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), "al-floor-"));
  try {
    return await use(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Hands on the address of the bare server. `commits`: with a database that it commits to. */
export function withFloor<T>(commits: boolean, use: (url: string) => Promise<T>): Promise<T> {
  return withFolder((dir) => {
    const path = commits ? [join(dir, "floor.db")] : [];
    return withBare("floor-server.ts", [secretOf("github"), ...path], ({ said }) => use(said));
  });
}
