import { encodedForms, shortestHidden } from "../contracts/encoded-forms.ts";

/** A part of a secret file that is worth hiding by itself. */
const minLineLength = 16;

/**
 * The shapes in which a secret may turn up in text: its encoded forms, and those of the parts of one that is a file,
 * because logs go by lines and tools print single values.
 */
export function secretForms(secret: string): string[] {
  const values = [secret, ...partsOf(secret)];
  return values.filter(({ length }) => length >= shortestHidden).flatMap(encodedForms);
}

/** Lines of a text that has several, with and without their `name:` or `name=`; values of a JSON document. */
function partsOf(secret: string): string[] {
  const texts = jsonTexts(secret);
  const lines = [secret, ...texts].flatMap((text) => {
    const several = text.split(/\r?\n/).map((line) => line.trim());
    return several.length > 1 ? several : [];
  });
  const values = lines.map((line) => line.replace(/^[\w."-]+\s*[:=]\s*/, ""));
  return [...new Set([...texts, ...lines, ...values])].filter(isTelling);
}

/** The first and last line of a PEM file are the same in all of them, and so are addresses. */
function isTelling(line: string): boolean {
  return line.length >= minLineLength && !/^(-----[A-Z ]+-----$|https?:\/\/[^@]*$)/.test(line);
}

/** Every text in a JSON object; none when it is no such document. */
function jsonTexts(secret: string): string[] {
  if (!/^\s*\{/.test(secret)) return [];
  try {
    const texts: string[] = [];
    JSON.parse(secret, (_key, value: unknown) => {
      if (typeof value === "string") texts.push(value);
      return value;
    });
    return texts;
  } catch {
    return [];
  }
}
