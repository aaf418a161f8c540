/** Runs so many actions at a time; the others wait in order. The client opens a connection for each request at once. */
export function atATime(most: number): <T>(action: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (action) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await action();
    } finally {
      // The next one takes the place of this one.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
