import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { indexPath } from "../../../src/features/search/index-format.ts";
import { logProject, noon } from "./support.ts";

let project: ReturnType<typeof logProject>;
beforeEach(() => (project = logProject()));
afterEach(() => project.remove());

const program = join(import.meta.dirname, "index-in-slices.ts");

/** Indexes in a process of its own, which is killed after a time; whether it was done before. */
async function indexUntil(killAfterMs: number): Promise<boolean> {
  const child = spawn(process.execPath, [program, project.projectDir]);
  let output = "";
  child.stdout.on("data", (data: Buffer) => (output += data.toString()));
  const exited = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), exited]);
  await Promise.race([wait(killAfterMs), exited]);
  child.kill("SIGKILL");
  await exited;
  return output.includes("done");
}

function indexedLines(): number {
  const db = new DatabaseSync(indexPath(project.projectDir), { readOnly: true });
  expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  const table = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'words_20260310'").get();
  const count = "SELECT count(*) AS n FROM words_20260310 WHERE words_20260310 MATCH 'common'";
  // It may have been killed before its first commit.
  const lines = table === undefined ? 0 : Number(db.prepare(count).get()?.n);
  db.close();
  return lines;
}

test(
  "after kill -9 while it is indexed, each line is indexed once",
  { timeout: 120_000 },
  async () => {
    const lines = 2_000;
    for (let i = 0; i < lines; i++) {
      project.write({ msg: `common ${i}`, agent: `a${i % 3}`, time: noon + i });
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
