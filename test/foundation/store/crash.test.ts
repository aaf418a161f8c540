import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { isLong } from "../../helpers/long.ts";
import { tempStore } from "./support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const writer = join(import.meta.dirname, "crash-writer.ts");

/** Runs the writer until it acknowledged `count` writes, kills it, and returns every acknowledgement. */
async function killedAfter(dir: string, count: number): Promise<ReadonlySet<string>> {
  const child = spawn(process.execPath, [writer, dir], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const acknowledged = new Set<string>();
  for await (const line of createInterface(child.stdout)) {
    acknowledged.add(line);
    if (acknowledged.size === count) child.kill("SIGKILL");
  }
  await exited;
  expect(acknowledged.size).toBeGreaterThanOrEqual(count);
  return acknowledged;
}

test.each(isLong ? [1, 37, 500, 2_003] : [37, 2_003])(
  "everything acknowledged is stored after kill -9 at write %i",
  async (count) => {
    const dir = tempDir();
    const acknowledged = await killedAfter(dir, count);
    const store = tempStore(dir);
    const db = new DatabaseSync(join(dir, ".al", "state.db"), { readOnly: true });
    const states = new Map(
      db
        .prepare("SELECT id, state FROM triggers")
        .all()
        .map((row) => [row.id, row.state]),
    );
    expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    db.close();
    for (const line of acknowledged) {
      const [event, n] = line.split(" ");
      if (event === "received") {
        expect(Buffer.from(store.receipts.get(`r${n}`)?.body ?? []).toString()).toBe(`body ${n}`);
        expect(states.get(`w${n}`)).toBe("queued");
      }
      if (event === "queued") expect(states.has(`m${n}`)).toBe(true);
      if (event === "claimed") expect(states.get(`m${n}`)).toMatch(/running|ended/);
      if (event === "ended") expect(states.get(`m${n}`)).toBe("ended");
    }
    const { requeue, lost, neverBegun } = await store.recover();
    const running = [...states.values()].filter((state) => state === "running");
    const queued = [...states.values()].filter((state) => state === "queued");
    expect(lost.length + neverBegun.length).toBe(running.length);
    expect(requeue).toHaveLength(queued.length + running.length);
  },
);
