import { parse, TomlError } from "smol-toml";
import { expect, test } from "vitest";
import { tomlWords } from "../../../src/foundation/config/toml-words.ts";
import { messageOf } from "../../../src/foundation/errors.ts";

/** The words for what the parser finds in the text, with its place. */
function wordsOf(text: string): string {
  try {
    parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ""] = messageOf(error)
      .replace(/^Invalid TOML document: /, "")
      .split("\n");
    return `${error.line}: ${tomlWords(reason, text, error)}`;
  }
  return "valid";
}

test.each([
  ['a = "x\nb = 1\n', "1: the string is not closed on its line"],
  ['a = "x\r\nb = 1\r\n', "1: the string is not closed on its line"],
  ["a = ['x\n]", "1: the string is not closed on its line"],
  ['a = "\u0001"', "1: control characters are not allowed in strings"],
  ['a = "x', "1: the string is never closed"],
  ['a = """x\nb = 1\n', "1: the string is never closed"],
  ["a = [1, 2\nb = 3\n", "2: expected a comma, or ] for the [ of line 1"],
  [
    '# it\'s\na = ["]", # ]\n"""[\n"""\n\n[t]\nb = 1\n',
    "6: expected a comma, or ] for the [ of line 2",
  ],
  ["a = [1, [2], 3\n", "2: expected a comma, or ] for the [ of line 1"],
  ["[t]\na = { b = 1\nc = 2 }\n", "3: expected a comma, or } for the { of line 2"],
  ['a = ["x" "y"]', "1: expected a comma, or ]"],
  ["a = { b = 1", "1: expected a comma, or }"],
  ["[a\nb = 1\n", "1: the table's name is not closed by ]"],
  ["a\n", "1: expected = and a value behind the key"],
  ["a! = 1\n", "1: illegal character in key"],
])("%j: %s", (text, words) => {
  expect(wordsOf(text)).toBe(words);
});
