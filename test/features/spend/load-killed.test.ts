import { createSpend } from "../../../src/features/spend/spend-store.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { usdOfNano } from "../../../src/foundation/contracts/money.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { costOfAll, randomCalls } from "./load.ts";

const writer = join(import.meta.dirname, "load-writer.ts");
const seed = 7;
const cap = Math.floor(costOfAll(randomCalls(seed)) / 3);

/** Plays the calls in another process, kills it after so many grants, and returns the runs of all grants. */
async function killedAfter(dir: string, grants: number): Promise<readonly string[]> {
  const args = [writer, dir, `${seed}`, `${usdOfNano(cap)}`];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const granted: string[] = [];
  for await (const run of createInterface(child.stdout)) {
    granted.push(run);
    if (granted.length === grants) child.kill("SIGKILL");
  }
  await exited;
  return granted;
}

function countsOf(dir: string): Record<string, unknown> {
  const db = new DatabaseSync(join(dir, ".al", "state.db"), { readOnly: true });
  const row = db
    .prepare(
      `SELECT count(*) AS calls, sum(reserved IS NOT NULL) AS open, sum(estimated) AS estimated,
         sum(nano_usd + iif(reserved IS NULL, 0, seen)) AS nano FROM model_calls`,
    )
    .get();
  db.close();
  return { ...row };
}

test.each([1, 60, 300])(
  "after kill -9 at model call %i the next scheduler charges the open calls and keeps within the remaining budget",
  async (grants) => {
    const dir = tempDir();
    const granted = await killedAfter(dir, grants);
    expect(granted.length).toBeGreaterThanOrEqual(grants);
    const left = countsOf(dir);
    expect(Number(left.calls)).toBeGreaterThanOrEqual(granted.length);
    expect(Number(left.open)).toBeGreaterThan(0);

    const store = tempStore(dir);
    await store.recover();
    const spent = store.tables(createSpend).account("project", "2026-11-22")?.spent;
    expect(countsOf(dir)).toEqual({ ...left, open: 0, estimated: left.open });
    expect(spent).toBe(left.nano);
    expect(spent).toBeLessThanOrEqual(cap);
    store.close();

    await killedAfter(dir, Infinity);
    const after = tempStore(dir).tables(createSpend).account("project", "2026-11-22");
    expect(after?.spent).toBeLessThanOrEqual(cap);
    expect(after?.spent).toBeGreaterThan(cap * 0.9);
  },
  60_000,
);
