/** The candidate that `word` was probably meant to be, null when none is near: at most a third of it differs. */
export function closest(word: string, candidates: readonly string[]): string | null {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: distanceOf(word, candidate) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate ?? null;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other. */
function distanceOf(from: string, to: string): number {
  let [beforeLast, last]: [number[], number[]] = [[], range(to.length + 1)];
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row.push(
        Math.min(
          at(last, j) + 1,
          at(row, j - 1) + 1,
          at(last, j - 1) + (same ? 0 : 1),
          swapped ? at(beforeLast, j - 2) + 1 : Infinity,
        ),
      );
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
