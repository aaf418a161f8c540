/** Says which tests are left out here, and why; nothing if they run. */
export function noteSkipped(tests: string, why: string | null): void {
  if (why !== null) process.stderr.write(`skipped: ${tests} (${why})\n`);
}
