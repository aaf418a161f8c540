import { mapTexts } from "../contracts/map-texts.ts";
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
    redactValue: (value) => mapTexts(value, redact),
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
