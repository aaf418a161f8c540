/** No real value nests deeper; a value that does may be meant to exhaust the stack. */
const maxDepth = 32;

/**
 * A JSON-like value with all its texts changed, its keys too; the value itself stays as it is. What is nested deeper
 * than 32 levels, or holds itself, is replaced by a text such as `[too deep]`.
 */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  return mapped(value, change, []);
}

/** `parents` are the objects that hold this one. */
function mapped(value: unknown, change: (text: string) => string, parents: object[]): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (parents.includes(value)) return "[circular]";
  if (parents.length >= maxDepth) return "[too deep]";
  const inside = [...parents, value];
  const next = (inner: unknown): unknown => mapped(inner, change, inside);
  if (Array.isArray(value)) return value.map(next);
  if (value instanceof Error) return next(plainError(value));
  if (hasToJson(value)) return next(value.toJSON());
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [change(key), next(inner)]),
  );
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

/** An error's texts are not among its own enumerable keys. */
function plainError(error: Error): object {
  const { name, message, stack, cause } = error;
  return {
    ...Object.fromEntries(Object.entries(error)),
    name,
    message,
    stack,
    ...(cause === undefined ? {} : { cause }),
  };
}
