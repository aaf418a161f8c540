import { mapTexts } from "../contracts/map-texts.ts";
import { secretForms } from "./secret-forms.ts";

/** Takes known secrets out of what is written down. */
export interface Redactor {
  /**
   * From now on these values are secrets. They stay so, as what was known once may still turn up; only what is worth
   * nothing any more, such as the token of a run that is over, is forgotten by the function that is returned.
   */
  readonly add: (secrets: Iterable<string>) => () => void;
  /** The text with `[redacted]` for every secret in any of its forms. */
  readonly redact: (text: string) => string;
  /** The same for all texts of a JSON-like value, its keys too; the value itself stays as it is. */
  readonly redactValue: (value: unknown) => unknown;
}

const mark = "[redacted]";

/** A redactor that knows no secret yet. */
export function createRedactor(): Redactor {
  /** How many secrets have a form. */
  const forms = new Map<string, number>();
  /** Made of the forms when a text is next looked through; a run adds and forgets some without one in between. */
  let known: RegExp | null = null;

  const count = (form: string, change: 1 | -1): void => {
    const before = forms.get(form) ?? 0;
    if (before + change > 0) forms.set(form, before + change);
    else forms.delete(form);
    if (before === 0 || before + change === 0) known = null;
  };
  const redact = (text: string): string => {
    if (forms.size === 0) return text;
    known ??= anyOf(forms.keys());
    return text.replace(known, mark);
  };
  return {
    add: (secrets) => {
      let added = [...secrets].flatMap((secret) => [...secretForms(secret)]);
      for (const form of added) count(form, 1);
      return () => {
        for (const form of added) count(form, -1);
        added = [];
      };
    },
    redact,
    redactValue: (value) => mapTexts(value, redact),
  };
}

/** One expression for all, longest first: a form that begins another one must not win. */
function anyOf(forms: Iterable<string>): RegExp {
  const sorted = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(sorted.map(escaped).join("|"), "g");
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
