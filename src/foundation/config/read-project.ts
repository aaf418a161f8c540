import type { CalendarSpan } from "../../../streams/triggers/calendar.ts";
import { momentsOf } from "../../../streams/wall-time.ts";
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { sep, join } from "node:path";
import { isCalendarFile } from "../files/classify.ts";
import { isMissing, messageOf, Problem } from "../errors.ts";
import { availableParallelism } from "node:os";
import { isTimezone, machineTimezone } from "./fields.ts";

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
  /** The .ics files beside it, by name; absent for none. */
  readonly calendars?: ReadonlyMap<string, CalendarFile>;
}

/** An .ics file with its events, or why it can't be used. */
export type CalendarFile =
  | Exclude<FileText, { readonly type: "text" }>
  | { readonly type: "spans"; readonly spans: readonly CalendarSpan[] };

/** Larger than any config written by a person. */
export const maxConfigBytes = 256 * 1024;

/** Reads `config.toml` of the project at `dir`, which is absolute. Throws a Problem when it can't. */
export async function readProject(dir: string): Promise<ProjectFile> {
  const file = await readText(join(dir, "config.toml"), dir, maxConfigBytes);
  if (file.type === "text") {
    const machineCores = availableParallelism();
    const calendars = await readCalendars(dir);
    return { dir, text: file.text, machineTimezone: machineTimezone(), machineCores, calendars };
  }
  if (file.type === "missing") {
    throw new Problem(
      "not_a_project",
      `not a project: ${dir} contains no config.toml`,
      "Create a project with `al new <dir>`, or name another directory with `-p <dir>`.",
    );
  }
  throw new Problem("unreadable_file", `${join(dir, "config.toml")} ${file.reason}`);
}

const maxCalendarBytes = 1024 ** 2;

/** Never rejects. */
async function readCalendars(dir: string): Promise<ReadonlyMap<string, CalendarFile>> {
  const names = await readdir(dir).catch(() => []);
  const read = async (name: string) => {
    const file = await readText(join(dir, name), dir, maxCalendarBytes);
    return [name, file.type === "text" ? await calendarFile(file.text) : file] as const;
  };
  return new Map(await Promise.all(names.filter(isCalendarFile).map(read)));
}

async function calendarFile(text: string): Promise<CalendarFile> {
  // Loaded only for projects with such a file.
  const { readCalendar } = await import("./read-calendar.ts");
  try {
    return { type: "spans", spans: readCalendar(text, new Date().getFullYear(), momentIn) };
  } catch (error) {
    return unreadable(`is not a usable iCalendar file (${messageOf(error)}); export it again`);
  }
}

/** Epoch ms of a wall time; null for a zone that the machine does not know. */
export function momentIn(wall: number, zone: string): number | null {
  return isTimezone(zone) ? momentsOf(wall, zone).first : null;
}

/** The result of reading a file. An unreadable file is a value, so that the other files are still read. */
export type FileText =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "missing" }
  | { readonly type: "unreadable"; readonly reason: string };

/**
 * Reads a small UTF-8 file below `root`. Links are followed inside of `root` only: a file of a foreign skill must not
 * bring other files of the disk into a prompt. Never rejects.
 */
export function readText(path: string, root: string, maxBytes: number): Promise<FileText> {
  return Promise.resolve(readTextSync(path, root, maxBytes));
}

/** `readText` for the files of all agents: a thread per step would take ten times as long as the step. */
export function readTextSync(path: string, root: string, maxBytes: number): FileText {
  try {
    const real = realpathSync.native(path);
    if (!real.startsWith(root + sep) && !real.startsWith(realpathSync.native(root) + sep)) {
      return unreadable("is a link that leads out of the project; put a copy there instead");
    }
    return readRegular(real, maxBytes);
  } catch (error) {
    if (isMissing(error)) return { type: "missing" };
    return unreadable(`can't be read (${messageOf(error)}); check its type and permissions`);
  }
}

function readRegular(path: string, maxBytes: number): FileText {
  // Without O_NONBLOCK a FIFO would wait for its writer forever.
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return unreadable("is not a regular file; put a file there");
    if (stat.size > maxBytes) {
      return unreadable(`has ${stat.size} bytes; expected at most ${maxBytes}`);
    }
    return decoded(readFileSync(file));
  } finally {
    closeSync(file);
  }
}

function decoded(bytes: Uint8Array): FileText {
  try {
    return { type: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return unreadable("is not UTF-8 text; save it in that encoding");
  }
}

function unreadable(reason: string) {
  return { type: "unreadable", reason } as const;
}
