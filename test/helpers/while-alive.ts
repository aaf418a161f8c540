type Asynchronous = Readonly<Record<string, unknown>>;

/** An edge whose functions never answer once `dead` is aborted: what a process that was killed had under way. */
export function whileAlive<T extends object>(edge: T, dead: AbortSignal): T {
  const never = new Promise<never>(() => undefined);
  return new Proxy(edge, {
    get: (target, name) => {
      const value = (target as Asynchronous)[String(name)];
      if (typeof value !== "function") return value;
      return (...given: readonly unknown[]): unknown => {
        if (dead.aborted) return never;
        const answer: unknown = Reflect.apply(value, target, given);
        if (!(answer instanceof Promise)) return answer;
        return answer.then(
          (result: unknown) => (dead.aborted ? never : result),
          (error: unknown) => (dead.aborted ? never : Promise.reject(error as Error)),
        );
      };
    },
  });
}
