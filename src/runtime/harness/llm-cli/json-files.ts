import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { fieldsOf } from "./fields.ts";
import type { Fields } from "./fields.ts";

/** The objects of a file of JSON objects that are indented, so that only their own braces begin a line. */
export async function* indentedObjects(path: string): AsyncGenerator<Fields> {
  let lines: string[] = [];
  for await (const line of linesOf(path)) {
    if (line === "{") lines = [];
    lines.push(line);
    if (line !== "}") continue;
    const value = parsed(lines.join("\n"));
    if (value !== undefined) yield fieldsOf(value);
  }
}

function linesOf(path: string) {
  return createInterface({ input: createReadStream(path), crlfDelay: Infinity });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
