import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execFileSync, spawnSync } from "node:child_process";
import { readFigures } from "./baseline.ts";
import { figureOf, type Figure } from "./figure.ts";

const root = resolve(import.meta.dirname, "../..");

/** The figures of an older commit and of this checkout, each the median of its rounds. */
export interface Compared {
  readonly before: readonly Figure[];
  readonly now: readonly Figure[];
}

interface Rounds {
  readonly measures: readonly string[];
  readonly rounds: number;
}

/**
 * Measures a commit and this checkout in turns, each by its own benchmarks, so that both meet the machine as it is in
 * the same minutes. A measure that the commit doesn't have is measured here alone.
 */
export function compareWith(commit: string, { measures, rounds }: Rounds): Compared {
  const older = builtClone(commit);
  const before: Figure[][] = [];
  const now: Figure[][] = [];
  for (const measure of measures) {
    const has = existsSync(join(older, `test/bench/measures/${measure}.ts`));
    for (let round = 0; round < rounds; round++) {
      if (has) before.push(measured(older, measure));
      now.push(measured(root, measure));
    }
  }
  return { before: medians(before.flat()), now: medians(now.flat()) };
}

/** A clone of a commit, installed and built; kept for the next comparison. Node runs no TypeScript in node_modules. */
function builtClone(commit: string): string {
  const id = git("rev-parse", "--verify", `${commit}^{commit}`);
  const clone = join(homedir(), ".cache/almanac-bench", id);
  if (!existsSync(clone)) {
    const unfinished = `${clone}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    git("clone", "--quiet", "--shared", "--no-checkout", root, unfinished);
    git("-C", unfinished, "checkout", "--quiet", "--detach", id);
    renameSync(unfinished, clone);
  }
  run("npm", ["run", "--silent", "setup", "--", "tests"], clone);
  return clone;
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
}

function measured(checkout: string, measure: string): Figure[] {
  const folder = mkdtempSync(join(tmpdir(), "al-bench-"));
  const json = join(folder, "figures.json");
  const bench = join(checkout, "test/bench/bench.ts");
  try {
    const args = [bench, "--only", measure, "--repeats", "1", "--json", json];
    run(process.execPath, args, checkout);
    return [...readFigures(json)];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed in ${cwd}`);
}

/** One figure of each name: its median over the rounds, and the worst of what is worst. */
function medians(figures: readonly Figure[]): readonly Figure[] {
  const byName = Map.groupBy(figures, ({ name }) => name);
  return [...byName.values()].map((same) => {
    const [first] = same as [Figure];
    const of = (values: readonly (number | null)[]): number[] => values.filter((n) => n !== null);
    const { name, unit, target } = first;
    const floor = of(same.map((each) => each.floor));
    const median = figureOf(
      name,
      unit,
      same.map((each) => each.median),
      { target, floor },
    );
    const tails = of(same.map((each) => each.p99));
    const p99 = tails.length === 0 ? null : figureOf(name, unit, tails).median;
    return { ...median, p99, most: Math.max(...same.map((each) => each.most)) };
  });
}
