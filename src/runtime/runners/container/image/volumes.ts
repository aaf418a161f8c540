import { posix } from "node:path";
import { mountedSocketDir } from "../../../../foundation/contracts/run-api.ts";
import type { Engine } from "../engine.ts";
import { workDir } from "../container-options.ts";
import { containerUser } from "./dockerfile.ts";

const inEachRun: ReadonlySet<string> = new Set([
  "/tmp",
  workDir,
  containerUser.home,
  mountedSocketDir,
]);

/** The part of the engine's answer that is used. */
interface Inspected {
  readonly Config: { readonly Volumes?: object | null };
}

/**
 * The folders that the image declares as volumes, but for those that each run has anyway. The engine would give them
 * space on its disk without a limit, whatever else is read-only: they are to be folders in memory.
 */
export async function declaredVolumes(engine: Engine, image: string): Promise<readonly string[]> {
  const { Config }: Inspected = await engine.calls().getImage(image).inspect();
  const declared = Object.keys(Config.Volumes ?? {}).map((path) => posix.resolve("/", path));
  return [...new Set(declared)].filter((path) => !inEachRun.has(path));
}
