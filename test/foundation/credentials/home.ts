import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { UserError } from "../../../src/foundation/errors.ts";

/** A home with these files in its store, as private as it must be; gone after the test. */
export async function homeWith(files: Readonly<Record<string, string>>): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "al-home-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, "credentials", name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, text);
    await chmod(path, 0o600);
  }
  return home;
}

/** The error that a person gets. */
export async function refusal(attempt: Promise<unknown>): Promise<UserError> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}
