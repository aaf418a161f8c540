/** The most characters of a tool's answer, as JSON. */
const maxAnswer = 20_000;
/** The part of it for the rows of a list, and the largest row. */
const [maxRows, maxRow] = [17_000, 6_000];

/** How long each text, and how many items each list, may have; the first steps that fit are taken. */
const steps = [
  { text: Infinity, items: Infinity },
  { text: 4_000, items: 100 },
  { text: 1_500, items: 40 },
  { text: 500, items: 15 },
  { text: 150, items: 6 },
  { text: 40, items: 3 },
] as const;

/** Shortens texts and lists until the value's JSON has at most `most` characters. */
export function shrunk<T>(
  value: T,
  most = maxAnswer,
): { readonly value: T; readonly cut: boolean } {
  for (const step of steps) {
    const shorter = shorten(value, step) as T;
    const cut = step !== steps[0];
    if (JSON.stringify(shorter).length <= most || step === steps.at(-1))
      return { value: shorter, cut };
  }
  return { value, cut: false };
}

function shorten(value: unknown, step: (typeof steps)[number]): unknown {
  if (typeof value === "string") return cutText(value, step.text);
  if (Array.isArray(value)) return value.slice(0, step.items).map((one) => shorten(one, step));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shorten(one, step)]));
}

function cutText(text: string, length: number): string {
  const more = text.length - length;
  return more <= 0 ? text : `${text.slice(0, length)}… [${more} more characters]`;
}

/**
 * Reads as many rows as fit into an answer. A page that is too long is read again with fewer rows, so that its cursor
 * continues where it ends.
 */
export async function fittingPage<Row, P extends { readonly rows: Row[] }>(
  limit: number,
  read: (limit: number) => Promise<P & { readonly rows: Row[] }>,
): Promise<P & { readonly cut: boolean }> {
  for (let asked = limit; ;) {
    const page = await read(asked);
    const shorter = page.rows.map((row) => shrunk(row, maxRow));
    const rows = shorter.map(({ value }) => value);
    const fits = fitting(rows);
    if (fits === rows.length) return { ...page, rows, cut: shorter.some(({ cut }) => cut) };
    asked = fits;
  }
}

/** How many of the first rows fit; at least one. */
export function fitting(rows: readonly unknown[]): number {
  let length = 0;
  const first = rows.findIndex((row) => (length += JSON.stringify(row).length + 1) > maxRows);
  return first === -1 ? rows.length : Math.max(1, first);
}
