import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Problem } from "../../../src/foundation/errors.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** A home with these files in its store, as private as it must be; gone after the test. */
export async function homeWith(files: Readonly<Record<string, string>>): Promise<string> {
  const home = tempDir();
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, "credentials", name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, text);
    await chmod(path, 0o600);
  }
  return home;
}

/** The error that a person gets. */
export async function refusal(attempt: Promise<unknown>): Promise<Problem> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("it was not refused");
}
