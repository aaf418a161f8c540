import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pause } from "../../helpers/pause.ts";
import { logProject, noon } from "./support.ts";

let project: ReturnType<typeof logProject>;
beforeEach(() => void (project = logProject()));

const program = join(import.meta.dirname, "index-in-slices.ts");

/** Indexes in a process of its own, which is killed after a time; whether it was done before. */
async function indexUntil(killAfterMs: number): Promise<boolean> {
  const child = spawn(process.execPath, [program, project.projectDir]);
  let output = "";
  child.stdout.on("data", (data: Buffer) => (output += data.toString()));
  const exited = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), exited]);
  await Promise.race([pause(killAfterMs, "it is killed in the middle"), exited]);
  child.kill("SIGKILL");
  await exited;
  return output.includes("done");
}

function indexedLines(): number {
  const { inIndex } = project;
  expect(inIndex("PRAGMA integrity_check")).toEqual({ integrity_check: "ok" });
  // It may have been killed before its first commit.
  if (inIndex("SELECT 1 FROM sqlite_master WHERE name = 'words_20260310'") === undefined) return 0;
  const count = "SELECT count(*) AS n FROM words_20260310 WHERE words_20260310 MATCH 'common'";
  return (inIndex(count) as { readonly n: number }).n;
}

test(
  "after kill -9 of the indexing, each log line is indexed once",
  { timeout: 120_000 },
  async () => {
    const lines = 2_000;
    for (let i = 0; i < lines; i++) {
      project.write(`common ${i}`, { agent: `a${i % 3}`, time: noon + i });
    }
    const seen = new Set<number>();
    for (let tries = 0, isDone = false; !isDone; tries++) {
      expect(tries).toBeLessThan(100);
      isDone = await indexUntil(20 + tries * 15);
      seen.add(indexedLines());
    }
    expect(indexedLines()).toBe(lines);
    // It was killed in between, not before or after.
    expect([...seen].filter((count) => count > 0 && count < lines)).not.toEqual([]);
  },
);
