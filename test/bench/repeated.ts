/** Measures so many times, one after the other. */
export async function repeated<T>(times: number, once: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let n = 0; n < times; n++) results.push(await once(n));
  return results;
}
