/** A character that a reader doesn't see, or that changes the order of visible ones. */
export interface HiddenCharacter {
  /** From 1. */
  readonly line: number;
  /** In characters, from 1. */
  readonly column: number;
  /** `U+202E` */
  readonly codePoint: string;
  readonly name: string;
}

/**
 * Control, format, private-use and unassigned characters, blanks that look like letters, variation selectors (which
 * can carry text), and separators that not every program takes for a line's end.
 */
export const hidden =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u2800\u3164\uFFA0\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/u;

const names: Readonly<Record<string, string>> = {
  "U+00AD": "soft hyphen",
  "U+061C": "Arabic letter mark",
  "U+200B": "zero-width space",
  "U+200C": "zero-width non-joiner",
  "U+200D": "zero-width joiner",
  "U+200E": "left-to-right mark",
  "U+200F": "right-to-left mark",
  "U+202A": "left-to-right embedding",
  "U+202B": "right-to-left embedding",
  "U+202C": "pop directional formatting",
  "U+202D": "left-to-right override",
  "U+202E": "right-to-left override",
  "U+2060": "word joiner",
  "U+2066": "left-to-right isolate",
  "U+2067": "right-to-left isolate",
  "U+2068": "first strong isolate",
  "U+2069": "pop directional isolate",
  "U+FEFF": "zero-width no-break space",
};

/** The hidden characters of a text, at most `most`. Joiners and selectors of an emoji count as parts of it. */
export function hiddenCharacters(text: string, most: number): HiddenCharacter[] {
  const found: HiddenCharacter[] = [];
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    const characters = Array.from(line);
    for (const [column, character] of characters.entries()) {
      if (!hidden.test(character) || character === "\t") continue;
      if (isOfEmoji(characters, column)) continue;
      if (found.length === most) return found;
      const codePoint = codePointOf(character);
      const name = nameOf(character, codePoint);
      found.push({ line: index + 1, column: column + 1, codePoint, name });
    }
  }
  return found;
}

/** A text in which each hidden character is replaced by its code point, such as `[U+202E]`. */
export function withHiddenShown(text: string): string {
  const shown = (character: string, at: number, all: readonly string[]): string => {
    const isSeen = /[\t\n]/.test(character) || !hidden.test(character) || isOfEmoji(all, at);
    return isSeen ? character : `[${codePointOf(character)}]`;
  };
  return Array.from(text.replaceAll("\r\n", "\n")).map(shown).join("");
}

function codePointOf(character: string): string {
  const digits = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${digits.padStart(4, "0")}`;
}

function isOfEmoji(characters: readonly string[], at: number): boolean {
  const before = characters[at - 1] ?? "";
  const after = characters[at + 1] ?? "";
  if (characters[at] === "\uFE0F") return /[\p{Emoji}]/u.test(before);
  const joins = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F]/u.test(before);
  return characters[at] === "\u200D" && joins && /\p{Extended_Pictographic}/u.test(after);
}

function nameOf(character: string, codePoint: string): string {
  if (/[\u{E0000}-\u{E007F}]/u.test(character)) return "tag, which spells invisible text";
  if (/[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/u.test(character)) return "variation selector";
  if (/\p{Cc}/u.test(character)) return "control character";
  if (/\p{Co}/u.test(character)) return "private-use character";
  return names[codePoint] ?? "invisible character";
}
