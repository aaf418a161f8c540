import { appendFileSync, chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** Says which test made which directory, for what is left behind. */
export const ownersFile = "worker-folders";

/** A directory that is removed when the test is over; other OS users may not enter it unless `mode` lets them. */
export function tempDir(mode = 0o700): string {
  const dir = mkdtempSync(join(tmpdir(), "al-"));
  chmodSync(dir, mode);
  const { testPath, currentTestName } = expect.getState();
  const owner = `${basename(dir)} of ${testPath ?? ""}: ${currentTestName ?? ""}\n`;
  appendFileSync(join(tmpdir(), ownersFile), owner);
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}
