import { execFileSync } from "node:child_process";

const path = new URL(
  "../../../../src/interfaces/cli/start/limit-young-generation.ts",
  import.meta.url,
);

/** MB that the young generation takes while objects are made of which some outlive a collection. */
function youngMb(before: string): number {
  const program = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { setImmediate as turn } from "node:timers/promises";
    import { limitYoungGeneration } from ${JSON.stringify(path.href)};
    ${before}
    let [kept, most] = [[], 0];
    for (let n = 0; n < 120; n++) {
      kept = [...kept.slice(-100_000), ...Array.from({ length: 10_000 }, (_, at) => ({ at, n }))];
      const young = getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
      most = Math.max(most, young.space_size);
      await turn();
    }
    process.stdout.write(String(most / 1024 / 1024));`;
  // V8's own limit is lower on small machines.
  const args = ["--max-semi-space-size=64", "--input-type=module", "--eval", program];
  return Number(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

test("al start keeps V8's young generation small", () => {
  // One step more, if a collection comes before its report.
  expect(youngMb("limitYoungGeneration();")).toBeLessThanOrEqual(32);
  expect(youngMb("")).toBeGreaterThan(32);
});
