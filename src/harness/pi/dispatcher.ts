/** Node documents that its `fetch` takes a dispatcher, and keeps its own under this name. */
const globalDispatcher = Symbol.for("undici.globalDispatcher.1");

type Dispatcher = NonNullable<RequestInit["dispatcher"]>;

/**
 * Node's own HTTP client without its limit of 300 s for a silent server: the harness has limits of its own, which
 * may be longer. Undefined where Node keeps none, which leaves its limit in force.
 */
export function unlimitedDispatcher(): Dispatcher | undefined {
  const own = Reflect.get(globalThis, globalDispatcher) as Dispatcher | undefined;
  return own?.compose(
    (dispatch) => (options, handler) =>
      dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  );
}
