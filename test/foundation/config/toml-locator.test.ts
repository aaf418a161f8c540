import { parse, TomlError, stringify } from "smol-toml";
import { tomlWords, tomlLocator } from "../../../src/foundation/config/toml-locator.ts";
import { messageOf } from "../../../src/foundation/errors.ts";
import fc from "fast-check";
import { fixture } from "./samples.ts";
import type { TomlPath } from "../../../src/foundation/config/toml-locator.ts";

/** What stands at the place, to the end of its line. */
function textAt(text: string, path: TomlPath, what: "key" | "value" = "value"): string | null {
  const place = tomlLocator(text)(path, what);
  if (place === null) return null;
  return text.split("\n")[place.line - 1]?.slice(place.column - 1) ?? null;
}

const document = fixture("places.toml");

test.each<[TomlPath, string]>([
  [["title"], '"x # no comment"   # comment'],
  [["dotted", "key", "quoted a", "raw"], "1"],
  [["webhooks", 1, "source"], '"b"'],
  [["webhooks", 1, "repos", 1], "'two',"],
  [["webhooks", 1, "inner", "deep", "b", 0, "c"], '"d" }, ] }'],
  [["text", "after"], "2024-01-01 10:00:00"],
])("tomlLocator finds the position of the value at %j", (path, text) => {
  expect(parse(document)).toBeTypeOf("object");
  expect(textAt(document, path)).toBe(text);
});

test("tomlLocator finds keys as well as values", () => {
  expect(textAt(document, ["models", "main", "provider"], "key")).toBe('provider = "anthropic"');
  expect(textAt(document, ["models", "main"], "key")).toBe("main] # the main one");
});

test("tomlLocator finds values after a byte order mark", () => {
  expect(textAt("\uFEFF# a comment\na = 1", ["a"])).toBe("1");
});

test("tomlLocator falls back to the nearest parent of a missing value", () => {
  expect(textAt(document, ["models", "main", "model"])).toBe("[models.main] # the main one");
  expect(textAt(document, ["webhooks", 1, "nothing", "at", "all"])).toBe("[[webhooks]]");
  expect(tomlLocator(document)(["webhooks", 1, "nothing"], "value")?.line).toBe(8);
  expect(tomlLocator(document)(["nothing"], "value")).toBeNull();
});

test("tomlLocator counts lines that end with CRLF", () =>
  expect(tomlLocator("a = 1\r\nb = 2\r\n")(["b"], "value")).toEqual({ line: 2, column: 5 }));

test("tomlLocator finds the position of every value in random documents", () => {
  const value = fc.oneof(fc.string(), fc.integer({ min: -1e6, max: 1e6 }), fc.boolean());
  const key = fc.string({ minLength: 1 }).filter((name) => name !== "__proto__");
  const { table } = fc.letrec((tie) => ({
    table: fc.dictionary(key, fc.oneof({ maxDepth: 3 }, value, tie("list"), tie("table")), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
    list: fc.oneof(fc.array(value), fc.array(tie("table"), { minLength: 1, maxLength: 3 })),
  }));
  fc.assert(
    fc.property(table, (data) => {
      const text = stringify(data);
      for (const [path, leaf] of leaves(parse(text))) {
        const found = /^(?:"(?:[^"\\]|\\.)*"|[^,\]} ]+)/.exec(textAt(text, path) ?? "");
        expect(parse(`value = ${found?.[0] ?? ""}`).value).toBe(leaf);
      }
    }),
    { numRuns: 200 },
  );
});

function leaves(value: unknown, path: TomlPath = []): [TomlPath, unknown][] {
  if (typeof value !== "object" || value === null) return [[path, value]];
  if (Array.isArray(value)) {
    return (value as unknown[]).flatMap((item, index) => leaves(item, [...path, index]));
  }
  return Object.entries(value).flatMap(([key, item]) => leaves(item, [...path, key]));
}

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
  ["a = “x”", "1: put strings between straight quotes: \" or ', not “"],
  ['a = "\u0001"', "1: control characters are not allowed in strings"],
  ['a = "x', "1: the string is never closed"],
  ['a = """x\nb = 1\n', "1: the string is never closed"],
  ["a = [1, 2\nb = 3\n", "2: expected a comma, or ] for the [ of line 1"],
  [
    '# it\'s\na = ["]", # ]\n"""[\n"""\n\n[t]\nb = 1\n',
    "6: expected a comma, or ] for the [ of line 2",
  ],
  ["[t]\na = { b = 1\nc = 2 }\n", "3: expected a comma, or } for the { of line 2"],
  ['a = ["x" "y"]', "1: expected a comma, or ]"],
  ["[a\nb = 1\n", "1: the table's name is not closed by ]"],
  ["a\n", "1: expected = and a value behind the key"],
  ["a! = 1\n", "1: illegal character in key"],
])("tomlLocator reports the error in %j as %s", (text, words) => expect(wordsOf(text)).toBe(words));
