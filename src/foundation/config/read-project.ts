import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { sep, join } from "node:path";
import { isMissing, messageOf, UserError } from "../errors.ts";
import { availableParallelism } from "node:os";
import { machineTimezone } from "./fields.ts";

/** Input of a project's config. */
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

/** The result of reading a file. A file that can't be read is a value: it must not take its neighbours along. */
export type FileText =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "missing" }
  | { readonly type: "unreadable"; readonly reason: string };

/**
 * Reads a small UTF-8 file. Links are followed inside of `root` only: a file that came with a skill from elsewhere must not
 * pull the rest of the disk into a prompt. Never throws.
 */
export async function readText(path: string, root: string, maxBytes: number): Promise<FileText> {
  try {
    const real = await realpath(path);
    if (!real.startsWith((await realpath(root)) + sep)) {
      return unreadable("is a link that leads out of the project; put a copy there instead");
    }
    return await readRegular(real, maxBytes);
  } catch (error) {
    if (isMissing(error)) return { type: "missing" };
    return unreadable(`can't be read (${messageOf(error)}); check its type and permissions`);
  }
}

async function readRegular(path: string, maxBytes: number): Promise<FileText> {
  // Without O_NONBLOCK a FIFO would wait for its writer forever.
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  await using file = await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  const stat = await file.stat();
  if (!stat.isFile()) return unreadable("is not a regular file; put a file there");
  if (stat.size > maxBytes) {
    return unreadable(`has ${stat.size} bytes; expected at most ${maxBytes}`);
  }
  return decoded(await file.readFile());
}

function decoded(bytes: Uint8Array): FileText {
  try {
    return { type: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return unreadable("is not UTF-8 text; save it in that encoding");
  }
}

function unreadable(reason: string): FileText {
  return { type: "unreadable", reason };
}
