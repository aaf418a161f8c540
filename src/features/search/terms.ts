import { Problem } from "../../foundation/errors.ts";

/** A word of a text as the index holds it, with its range in the text, in UTF-16 code units. */
interface Token {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** Consecutive words; with `isPrefix` the last one is the beginning of a word. */
export interface Term {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

export type Range = [number, number];

const words = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts that write no spaces between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu;
const ascii = /^[\0-\x7f]*$/;
const chunks = /"([^"]*)(?:"|$)(\*?)|([^\s"]+)/g;
const maxTerms = 20;
const maxCharacters = 400;
/** A shorter prefix matches half of the words in a log. */
const minPrefix = 2;

/**
 * The terms that a line must all have: words, phrases in quotation marks, and prefixes, which end in `*`. Everything
 * else is literal, and only its words count, in their order: `connect-timeout` is the phrase "connect timeout". Throws
 * Problem `bad_search`.
 */
export function parseTerms(q: string): readonly Term[] {
  if (q.length > maxCharacters) {
    throw badSearch(`the search has ${q.length} characters`, `use at most ${maxCharacters}`);
  }
  const terms = [...q.matchAll(chunks)].flatMap(termOf);
  if (terms.length === 0) {
    throw badSearch("the search has no word", "give a word, for example: timeout");
  }
  if (terms.length > maxTerms) {
    throw badSearch(`the search has ${terms.length} words and phrases`, `use at most ${maxTerms}`);
  }
  for (const term of terms) assertSelective(term);
  return terms;
}

function termOf([, phrase, star, word]: RegExpExecArray): Term[] {
  const text = phrase ?? word ?? "";
  const isStarred = phrase === undefined ? text.endsWith("*") : star === "*";
  const tokens = tokensOf(text);
  const last = tokens.at(-1);
  if (last === undefined) return [];
  const texts = tokens.map((token) => token.text);
  // The last character stands alone at the end of a text only; within a text it begins a pair.
  if (!isUnspacedCharacter(last.text)) return [{ words: texts, isPrefix: isStarred }];
  const isPartOfPair = tokens.at(-2)?.to === last.to;
  return isPartOfPair
    ? [{ words: texts.slice(0, -1), isPrefix: false }]
    : [{ words: texts, isPrefix: true }];
}

function assertSelective({ words, isPrefix }: Term): void {
  const last = words.at(-1) ?? "";
  if (!isPrefix || last.length >= minPrefix || isUnspacedCharacter(last)) return;
  throw badSearch(`${last}* matches too many words`, "give at least two letters");
}

function badSearch(problem: string, hint: string): Problem {
  return new Problem("bad_search", problem, hint);
}

function isUnspacedCharacter(text: string): boolean {
  return Array.from(text).length === 1 && text.search(unspaced) === 0;
}

/** The ranges of the terms in a text, in order and merged where they overlap; null if it lacks one of them. */
export function findAll(text: string, terms: readonly Term[]): Range[] | null {
  const tokens = tokensOf(text);
  const found = terms.map((term) => findTerm(tokens, term));
  return found.some((ranges) => ranges.length === 0) ? null : merged(found.flat());
}

function findTerm(tokens: readonly Token[], { words, isPrefix }: Term): Range[] {
  const ranges: Range[] = [];
  const last = words.length - 1;
  for (const [i, first] of tokens.entries()) {
    const end = tokens[i + last];
    if (end === undefined) break;
    const isHere = words.every((word, k) => {
      const text = tokens[i + k]?.text ?? "";
      return isPrefix && k === last ? text.startsWith(word) : text === word;
    });
    if (isHere) ranges.push([first.from, end.to]);
  }
  return ranges;
}

function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = result.at(-1);
    if (before && from <= before[1]) before[1] = Math.max(before[1], to);
    else result.push([from, to]);
  }
  return result;
}

/**
 * A text for the index, whose tokenizer knows ASCII only. Most of a log is ASCII, and splitting that here too would be
 * most of the work.
 */
export function indexText(text: string): string {
  if (ascii.test(text)) return text;
  return tokensOf(text)
    .map((token) => token.text)
    .join(" ");
}

/**
 * The words of a text, in lower case and without marks on letters. Chinese and Japanese, which write no spaces, become
 * pairs of characters and the last one alone, so the index needs no dictionary.
 */
function tokensOf(text: string): Token[] {
  return [...text.matchAll(words)].flatMap(wordTokens);
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
