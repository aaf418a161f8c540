import { UserError } from "../../foundation/errors.ts";
import { isUnspacedCharacter, tokensOf } from "./tokens.ts";

/** Words that follow each other; with `isPrefix` the last one may go on. */
export interface Term {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

const chunks = /"([^"]*)(?:"|$)(\*?)|([^\s"]+)/g;
const maxTerms = 20;
const maxCharacters = 400;
/** A shorter beginning is that of half the words in a log. */
const minPrefix = 2;

/**
 * What a line must have, all of it: words, phrases in quotation marks, and beginnings, which end in `*`. All else is
 * literal, and only its words count, in their order: `connect-timeout` is the phrase "connect timeout". Throws
 * UserError `bad_search`.
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
  for (const term of terms) mustBeSelective(term);
  return terms;
}

function termOf([, phrase, star, word]: RegExpExecArray): Term[] {
  const text = phrase ?? word ?? "";
  const isStarred = phrase === undefined ? text.endsWith("*") : star === "*";
  const tokens = tokensOf(text);
  const last = tokens.at(-1);
  if (last === undefined) return [];
  const words = tokens.map((token) => token.text);
  // The last character alone ends a text; within one it begins a pair.
  if (!isUnspacedCharacter(last.text)) return [{ words, isPrefix: isStarred }];
  const isPartOfPair = tokens.at(-2)?.to === last.to;
  return isPartOfPair
    ? [{ words: words.slice(0, -1), isPrefix: false }]
    : [{ words, isPrefix: true }];
}

function mustBeSelective({ words, isPrefix }: Term): void {
  const last = words.at(-1) ?? "";
  if (!isPrefix || last.length >= minPrefix || isUnspacedCharacter(last)) return;
  throw badSearch(`${last}* is the beginning of too many words`, "give at least two letters");
}

function badSearch(what: string, hint: string): UserError {
  return new UserError("bad_search", what, { hint });
}
