/** `; did you mean "schedule"?` if a known name is similar to the given one, else an empty text. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const near = closest(given, known);
  return near === null ? "" : `; ${meant(near)}`;
}

/** `did you mean "schedule"?` if a known name is similar to the given one, else the other hint. */
export function meantOr(given: string, known: Iterable<string>, otherwise: string): string {
  const near = closest(given, known);
  return near === null ? otherwise : meant(near);
}

/** `did you mean "start" or "stat"?` */
export function meant(...names: readonly string[]): string {
  return `did you mean ${names.map((name) => JSON.stringify(name)).join(" or ")}?`;
}

/** The longest word that is compared, because comparing takes time: typed words are shorter. */
const longest = 64;

/**
 * The suggestion for a misspelt `word`: the nearest candidate of which at most a third differs; null without one. Never
 * the word itself, which the caller has rejected.
 */
export function closest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > longest) return null;
  let best: { name: string; distance: number } | null = null;
  for (const name of candidates) {
    if (name === word) continue;
    const distance = editDistance(word, name);
    const limit = Math.max(1, Math.floor(Math.max(word.length, name.length) / 3));
    if (distance <= limit && distance < (best?.distance ?? Infinity)) best = { name, distance };
  }
  return best?.name ?? null;
}

/** The candidates that are similar to `word`, the best first: those that contain it, or are contained in it, before others. */
export function mostLike(word: string, candidates: readonly string[], count: number): string[] {
  const start = word.slice(0, longest);
  const ranked = candidates.flatMap((name) => {
    const distance = editDistance(start, name);
    if (name.includes(start) || start.includes(name)) return { name, distance: distance - longest };
    return distance <= Math.max(start.length, name.length) / 2 ? { name, distance } : [];
  });
  ranked.sort((a, b) => a.distance - b.distance);
  return ranked.slice(0, count).map(({ name }) => name);
}

/** Damerau-Levenshtein distance: letters inserted, deleted, changed or swapped with their neighbour; ignores case. */
export function editDistance(from: string, to: string): number {
  const [a, b] = [from.toLowerCase(), to.toLowerCase()];
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = cell(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? cell(before, j - 2) + 1 : Infinity;
      next.push(Math.min(change, swap, cell(row, j) + 1, cell(next, j - 1) + 1));
    }
    before = row;
    row = next;
  }
  return cell(row, b.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
