import { closeSync, openSync, writeSync } from "node:fs";

/** Writes a file until the disk has no space left. */
export function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (const size of [65_536, 4096, 512]) {
      for (let written = size; written === size;) written = writeSomething(file, size);
    }
  } finally {
    closeSync(file);
  }
}

function writeSomething(file: number, size: number): number {
  try {
    return writeSync(file, Buffer.alloc(size));
  } catch {
    return 0;
  }
}
