import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The pages' scripts and styles, written by the build: beside its chunks, or for sources that run unbuilt. */
const built = new URL(
  import.meta.url.endsWith(".ts")
    ? "../../../dist/src/interfaces/dashboard/"
    : "../interfaces/dashboard/",
  import.meta.url,
);

export interface BuiltFile {
  readonly text: string;
  /** The source of a content security policy that allows an element with this text. */
  readonly source: string;
}

/** Files of the program don't change while it runs. */
const files = new Map<string, BuiltFile>();

/** A built file of the pages, to be put into an element: `pages/log.js`. */
export function builtFile(name: string): BuiltFile {
  const known = files.get(name);
  if (known !== undefined) return known;
  const text = read(name);
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${name} would end its own element`);
  const file = { text, source: `'sha256-${createHash("sha256").update(text).digest("base64")}'` };
  files.set(name, file);
  return file;
}

function read(name: string): string {
  try {
    return readFileSync(new URL(name, built), "utf8");
  } catch (error) {
    const where = fileURLToPath(built);
    throw new Error(`${name} is missing in ${where}: build the program with npm run build`, {
      cause: error,
    });
  }
}
