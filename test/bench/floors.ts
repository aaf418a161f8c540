import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainProgram } from "./plain-program.ts";
import { secretOf } from "../features/webhooks/webhook-project.ts";
import { startProgram } from "./hop.ts";

/** Starts a program of bare parts in this folder: what the machine allows. Ends it after `use`. */
export async function withBare<T>(
  program: string,
  args: readonly string[],
  use: (bare: Awaited<ReturnType<typeof startProgram>>) => Promise<T>,
): Promise<T> {
  await using children = new AsyncDisposableStack();
  return await use(await startProgram(children, plainProgram(program), ...args));
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
