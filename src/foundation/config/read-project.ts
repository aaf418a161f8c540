import { availableParallelism } from "node:os";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { readText } from "./read-file.ts";
import { machineTimezone } from "./timezone.ts";

/** What a project's config is made from. */
export interface ProjectFile {
  /** Absolute. */
  readonly dir: string;
  /** Text of its `config.toml`. */
  readonly text: string;
  /** IANA name. */
  readonly machineTimezone: string;
  /** Processors that this process may use. */
  readonly machineCores: number;
}

/** Bigger than any config that people write. */
export const maxConfigBytes = 256 * 1024;

/** Reads `config.toml` of the project at `dir`, which is absolute. Throws a UserError when it can't. */
export async function readProject(dir: string): Promise<ProjectFile> {
  const file = await readText(join(dir, "config.toml"), dir, maxConfigBytes);
  if (file.type === "text") {
    const machineCores = availableParallelism();
    return { dir, text: file.text, machineTimezone: machineTimezone(), machineCores };
  }
  if (file.type === "missing") {
    throw new UserError("not_a_project", `not a project: ${dir} holds no config.toml`, {
      hint: "al new <dir> makes one; -p <dir> names one that is somewhere else",
    });
  }
  throw new UserError("unreadable_file", `${join(dir, "config.toml")} ${file.reason}`);
}
