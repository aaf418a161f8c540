import { spawnSync } from "node:child_process";
import { join } from "node:path";

test("an idle agent uses at most 47 KB of the scheduler's memory", () => {
  const program = join(import.meta.dirname, "graph-memory.ts");
  const { stdout } = spawnSync(process.execPath, ["--expose-gc", program], { encoding: "utf8" });
  const bytes = Number(stdout);
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThan(47_000);
});
