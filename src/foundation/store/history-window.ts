import type { Cursor } from "./history-filter.ts";

/** The length of a bucket of `trigger_counts`, in ms; the migrations have it too. */
export const bucketMs = 3 * 3_600_000;

/** How many entries that meet a query arrived in a bucket. */
export interface BucketCount {
  readonly bucket: number;
  readonly n: number;
}

/** A stretch of time that surely holds a page, and how many newer entries in it come before the page. */
export interface Window {
  /** Epoch ms, inclusive. */
  readonly from: number;
  /** Epoch ms, exclusive. */
  readonly to: number;
  readonly skip: number;
}

/**
 * Where the page is that begins after `offset` entries, found by adding up: only the entries of its first bucket are
 * walked over, however deep it lies. `counts` are newest first and not empty of entries. Null past the end.
 */
export function windowAt(
  counts: readonly BucketCount[],
  offset: number,
  size: number,
): Window | null {
  let skip = offset;
  const first = counts.findIndex(({ n }) => {
    if (skip < n) return true;
    skip -= n;
    return false;
  });
  const newest = counts[first];
  if (newest === undefined) return null;
  const from = startOf(counts.slice(first), skip + size);
  return { from, to: (newest.bucket + 1) * bucketMs, skip };
}

/** Where the page is that begins after a cursor; how much of the cursor's own bucket is older is not known. */
export function windowAfter(counts: readonly BucketCount[], cursor: Cursor, size: number): Window {
  const own = Math.floor(cursor.at / bucketMs);
  const older = counts.filter(({ bucket }) => bucket < own);
  const from = older.length === 0 ? own * bucketMs : startOf(older, size);
  return { from, to: cursor.at + 1, skip: 0 };
}

/** The start of the bucket in which so many entries are reached, or of the last one. */
function startOf(counts: readonly BucketCount[], wanted: number): number {
  let reached = 0;
  const enough = counts.find(({ n }) => (reached += n) >= wanted) ?? counts.at(-1);
  return (enough?.bucket ?? 0) * bucketMs;
}
