/** `; did you mean "schedule"?` when one of the known names is close to the given one, else nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const near = closest(given, known);
  return near === null ? "" : `; did you mean ${JSON.stringify(near)}?`;
}

function closest(given: string, known: Iterable<string>): string | null {
  if (given.length > 64) return null;
  let best: { name: string; distance: number } | null = null;
  for (const name of known) {
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    const limit = Math.max(1, Math.floor(Math.max(given.length, name.length) / 3));
    if (distance <= limit && distance < (best?.distance ?? Infinity)) best = { name, distance };
  }
  return best?.name ?? null;
}

/** How many letters must be put in, taken out, changed or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
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
