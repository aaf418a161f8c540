import { secretForms } from "./secret-forms.ts";

/** Takes known secrets out of what is written down. */
export interface Redactor {
  /** From now on these values are secrets. They stay so: what was known once may still turn up. */
  readonly add: (secrets: Iterable<string>) => void;
  /** The text with `[redacted]` for every secret in any of its forms. */
  readonly redact: (text: string) => string;
  /** The same for all texts of a JSON-like value, its keys too; the value itself stays as it is. */
  readonly redactValue: (value: unknown) => unknown;
}

const mark = "[redacted]";
const maxDepth = 32;

/** A redactor that knows no secret yet. */
export function createRedactor(): Redactor {
  const forms = new Set<string>();
  let known: RegExp | null = null;

  const redact = (text: string): string => (known === null ? text : text.replace(known, mark));
  return {
    add: (secrets) => {
      const before = forms.size;
      for (const secret of secrets) secretForms(secret).forEach((form) => forms.add(form));
      if (forms.size > before) known = anyOf(forms);
    },
    redact,
    redactValue: (value) => deepMap(value, redact, []),
  };
}

/** One expression for all, longest first: a form that begins another one must not win. */
function anyOf(forms: ReadonlySet<string>): RegExp {
  const sorted = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(sorted.map(escaped).join("|"), "g");
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** `parents` are the objects that hold this one. */
function deepMap(value: unknown, redact: (text: string) => string, parents: object[]): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (parents.includes(value)) return "[circular]";
  if (parents.length >= maxDepth) return "[too deep]";
  const inside = [...parents, value];
  const next = (inner: unknown): unknown => deepMap(inner, redact, inside);
  if (Array.isArray(value)) return value.map(next);
  if (value instanceof Error) return next(plainError(value));
  if (hasToJson(value)) return next(value.toJSON());
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [redact(key), next(inner)]),
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
