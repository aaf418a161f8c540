import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory that is removed when the test is over. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "al-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}
