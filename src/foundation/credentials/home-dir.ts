import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** The directory of what belongs to the user and to no project: `AL_HOME`, else `~/.almanac`. Absolute. */
export function homeDir(env: Readonly<Record<string, string | undefined>>): string {
  return env.AL_HOME ? resolve(env.AL_HOME) : join(homedir(), ".almanac");
}

/** Where the store keeps one file a field: `<home>/credentials/<type>/<instance>/<field>`. */
export function storeDir(home: string): string {
  return join(home, "credentials");
}
