import { mapTexts } from "../contracts/map-texts.ts";
import { secretForms } from "./secret-forms.ts";
import { TextIndex } from "./text-index.ts";

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
  const index = new TextIndex();

  const count = (form: string, change: 1 | -1): void => {
    const before = forms.get(form) ?? 0;
    const now = before + change;
    if (now > 0) forms.set(form, now);
    else forms.delete(form);
    if (before === 0) index.add(form);
    else if (now === 0) index.remove(form);
  };
  const redact = (text: string): string => index.replace(text, mark);
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
