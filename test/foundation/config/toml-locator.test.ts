import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { tomlLocator } from "../../../src/foundation/config/toml-locator.ts";
import type { TomlPath } from "../../../src/foundation/config/toml-locator.ts";

/** What stands at the place, to the end of its line. */
function textAt(text: string, path: TomlPath, what: "key" | "value" = "value"): string | null {
  const place = tomlLocator(text)(path, what);
  if (place === null) return null;
  return text.split("\n")[place.line - 1]?.slice(place.column - 1) ?? null;
}

const document = `# a comment = 1
title = "x # no comment"   # comment
dotted.key."quoted \\u0061".'raw' = 1
[models.main] # the main one
provider = "anthropic"
[[webhooks]]
source = "a"
[[webhooks]]
source = "b"
repos = [
  "one", # first
  'two',
]
[webhooks.inner]
deep = { a = 1, b = [ { c = "d" }, ] }
[text]
long = """
[no.table]
source = 1 \\""" still """""
raw = '''
it's'''''
after = 2024-01-01 10:00:00
last = true`;

describe("tomlLocator", () => {
  it.each<[TomlPath, string]>([
    [["title"], '"x # no comment"   # comment'],
    [["dotted", "key", "quoted a", "raw"], "1"],
    [["models", "main", "provider"], '"anthropic"'],
    [["webhooks", 1, "source"], '"b"'],
    [["webhooks", 1, "repos", 1], "'two',"],
    [["webhooks", 1, "inner", "deep", "b", 0, "c"], '"d" }, ] }'],
    [["text", "after"], "2024-01-01 10:00:00"],
    [["text", "last"], "true"],
  ])("finds the value of %j", (path, text) => {
    expect(parse(document)).toBeTypeOf("object");
    expect(textAt(document, path)).toBe(text);
  });

  it("finds keys as well as values", () => {
    expect(textAt(document, ["models", "main", "provider"], "key")).toBe('provider = "anthropic"');
    expect(textAt(document, ["models", "main"], "key")).toBe("main] # the main one");
  });

  it("falls back to the nearest parent for what isn't there", () => {
    expect(textAt(document, ["models", "main", "model"])).toBe("[models.main] # the main one");
    expect(textAt(document, ["webhooks", 1, "nothing", "at", "all"])).toBe("[[webhooks]]");
    expect(tomlLocator(document)(["webhooks", 1, "nothing"], "value")?.line).toBe(8);
    expect(tomlLocator(document)(["nothing"], "value")).toBeNull();
  });

  it("counts lines that end as on Windows", () => {
    expect(tomlLocator("a = 1\r\nb = 2\r\n")(["b"], "value")).toEqual({ line: 2, column: 5 });
  });

  it("places every value of any document", () => {
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
});

function leaves(value: unknown, path: TomlPath = []): [TomlPath, unknown][] {
  if (typeof value !== "object" || value === null) return [[path, value]];
  if (Array.isArray(value)) {
    return (value as unknown[]).flatMap((item, index) => leaves(item, [...path, index]));
  }
  return Object.entries(value).flatMap(([key, item]) => leaves(item, [...path, key]));
}
