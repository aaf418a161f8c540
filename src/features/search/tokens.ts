/** A word of a text as the index holds it, and where it is in the text, in UTF-16 code units. */
export interface Token {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const words = /[\p{L}\p{N}\p{M}]+/gu;
/** Written without spaces between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu;
const ascii = /^[\0-\x7f]*$/;

/**
 * The words of a text, in lower case and without marks on letters. Chinese and Japanese, which write no spaces, become
 * pairs of characters and the last one alone: the index then has no need of a dictionary.
 */
export function tokensOf(text: string): Token[] {
  return [...text.matchAll(words)].flatMap(wordTokens);
}

/**
 * A text for an index whose tokenizer knows ASCII alone. Most of a log is ASCII, and splitting it here as well would
 * be most of the work.
 */
export function indexText(text: string): string {
  if (ascii.test(text)) return text;
  return tokensOf(text)
    .map((token) => token.text)
    .join(" ");
}

function wordTokens(word: RegExpExecArray): Token[] {
  const [text] = word;
  if (ascii.test(text)) return [tokenOf(text, word.index)];
  const tokens: Token[] = [];
  let end = 0;
  for (const part of text.matchAll(unspaced)) {
    tokens.push(tokenOf(text.slice(end, part.index), word.index + end));
    tokens.push(...pairs(part[0], word.index + part.index));
    end = part.index + part[0].length;
  }
  tokens.push(tokenOf(text.slice(end), word.index + end));
  return tokens.filter((token) => token.text !== "");
}

function tokenOf(word: string, from: number): Token {
  return { text: fold(word), from, to: from + word.length };
}

function fold(word: string): string {
  const lower = word.toLowerCase();
  return ascii.test(lower) ? lower : lower.normalize("NFD").replace(/\p{M}/gu, "");
}

function pairs(text: string, from: number): Token[] {
  const characters = Array.from(text);
  let at = from;
  return characters.map((character, i) => {
    const pair = character + (characters[i + 1] ?? "");
    const token = { text: pair, from: at, to: at + pair.length };
    at += character.length;
    return token;
  });
}

/** Whether a token is a single character of a script that writes no spaces. */
export function isUnspacedCharacter(text: string): boolean {
  return Array.from(text).length === 1 && text.search(unspaced) === 0;
}
