/** A value that is made anew for each test, and removed after it. */
export function perTest<T>(make: () => T | Promise<T>, remove?: (value: T) => unknown): () => T {
  const value = slot<T>();
  beforeEach(async () => value.set(await make()));
  if (remove !== undefined) afterEach(() => remove(value.get()));
  return value.get;
}

/** A value that is made once for all tests of a file or a `describe`, in `timeoutMs` at most, and removed after them. */
export function perFile<T>(
  make: () => T | Promise<T>,
  remove?: (value: T) => unknown,
  timeoutMs?: number,
): () => T {
  const value = slot<T>();
  beforeAll(async () => value.set(await make()), timeoutMs);
  if (remove !== undefined) afterAll(() => remove(value.get()));
  return value.get;
}

function slot<T>() {
  let made: { readonly value: T } | null = null;
  return {
    set: (value: T): void => void (made = { value }),
    get: (): T => {
      if (made === null) throw new Error("No test has begun.");
      return made.value;
    },
  };
}
