import { DatabaseSync } from "node:sqlite";
import { matchExpression } from "../../../src/features/search/index-format.ts";
import { findAll, indexText, parseTerms } from "../../../src/features/search/terms.ts";

/** Whether the index finds a text; findAll must agree with it. */
function finds(text: string, q: string): boolean {
  const terms = parseTerms(q);
  const db = new DatabaseSync(":memory:");
  db.exec(
    "CREATE VIRTUAL TABLE words USING fts5(text, content='', columnsize=0, tokenize='ascii')",
  );
  db.prepare("INSERT INTO words (rowid, text) VALUES (1, ?)").run(indexText(text));
  const statement = db.prepare("SELECT count(*) AS n FROM words WHERE words MATCH ?");
  const byIndex = statement.get(matchExpression(terms, []))?.n === 1;
  db.close();
  expect(findAll(text, terms) !== null, `${q} in ${text}`).toBe(byIndex);
  return byIndex;
}

test.each([
  ["connect timeout", "a timeout; then connect", true],
  ['"connect timeout"', "Connect\nTIMEOUT", true],
  ["connect-timeout", "the connect_timeout of it", true],
  ['"connect ti"*', "connect timeout", true],
  ["uber", "Über alles", true],
  ["naïve café", "naive CAFE\u0301", true],
  ["東京", "今日は東京タワーです", true],
  ["東", "東京", true],
  ["错误代码42", "构建失败：错误代码 42", true],
  ["привет", "Привет, мир", true],
  ["४२", "४२", true],
  ["𠮷野家", "今日は𠮷野家で", true],
  ["connect timeout", "a timeout", false],
  ['"connect timeout"', "timeout connect", false],
  ["connect-timeout", "timeout connect", false],
  ["out*", "a timeout", false],
  ["strasse", "Straße", false],
  ["京都", "今日は東京タワーです", false],
  ["北", "東京", false],
])("a search for %s finds the text %j: %s", (q, text, isFound) =>
  expect(finds(text, q)).toBe(isFound),
);

test.each([
  'a AND b OR NOT "',
  "NEAR(a b, 3)",
  "col:a ^b -c +d",
  'x" OR "y',
  "'; DROP TABLE files; --x",
  "\ue000k9 a",
  "\ud800abc\udfff",
  `${"ab ".repeat(19)}c`,
  "x".repeat(400),
])("a search treats %j as text, without operators", (q) => {
  expect(finds("nothing of it", q)).toBe(false);
  expect(finds(`${q} `, q)).toBe(true);
});

test.each(["", "   ", '"" ""', "- .. !", "\ue000", "*", "a*", "a1 ".repeat(21), "x".repeat(401)])(
  "a search rejects the query %j",
  (q) => expect(() => parseTerms(q)).toThrow(expect.objectContaining({ code: "bad_search" })),
);

test("findAll returns ranges of matches that differ in case or accents", () => {
  const text = "Über 東京タワー, über";
  const ranges = findAll(text, parseTerms("uber 京タ"));
  expect(ranges?.map(([from, to]) => text.slice(from, to))).toEqual(["Über", "京タ", "über"]);
});
