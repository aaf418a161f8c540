import { expect, test } from "vitest";
import {
  parseInline,
  parseMarkdown,
} from "../../../../src/interfaces/dashboard/browser/markdown.ts";

function textOf(markdown: string): string[] {
  return parseMarkdown(markdown).map((block) => {
    if (block.type === "rule" || block.type === "table") return block.type;
    const text =
      block.type === "code" ? block.text : block.content.map(({ text: part }) => part).join("");
    return `${block.type}: ${text}`;
  });
}

test("headings, paragraphs, lists, quotes, rules and code are told apart", () => {
  const markdown = [
    "# Title #",
    "One line",
    "and its next.",
    "",
    "- a",
    "  goes on",
    "* b",
    "1. c",
    "> said",
    "> twice",
    "---",
    "```sh",
    "# no heading",
    "```",
    "after",
  ].join("\r\n");
  expect(textOf(markdown)).toEqual([
    "heading: Title",
    "paragraph: One line\nand its next.",
    "item: a\ngoes on",
    "item: b",
    "item: c",
    "quote: said\ntwice",
    "rule",
    "code: # no heading",
    "paragraph: after",
  ]);
});

test("items keep their number and how far they are indented", () => {
  const items = parseMarkdown("2) two\n  - below\n      - deep").map((block) =>
    block.type === "item" ? [block.marker, block.depth] : null,
  );
  expect(items).toEqual([
    ["2)", 0],
    ["•", 1],
    ["•", 3],
  ]);
});

test("indented lines and drawings keep their shape, an open fence goes to the end", () => {
  expect(textOf("| a | b |\n|  drawn\n\n    code\n\n```\nrest\n\nof it")).toEqual([
    "code: | a | b |\n|  drawn",
    "code:     code",
    "code: rest\n\nof it",
  ]);
});

test("a fence ends at the mark that it began with", () => {
  expect(textOf("````md\n```js\n~~~\n```\n````\nafter")).toEqual([
    "code: ```js\n~~~\n```",
    "paragraph: after",
  ]);
});

/** The cells of the first table, as text. */
function tableOf(markdown: string): readonly (readonly string[])[] | null {
  const table = parseMarkdown(markdown).find((block) => block.type === "table");
  if (table === undefined) return null;
  return [table.head, ...table.rows].map((row) =>
    row.map((cell) => cell.map((part) => part.text).join("")),
  );
}

test("a table has its cells, as many in each row as in its head", () => {
  const markdown =
    "Results:\n| a | b |\n|:--|--:|\n| `1` | x\\|y |\n| 2 |\n3 | 4 | 5\n\nafter | it";
  expect(tableOf(markdown)).toEqual([
    ["a", "b"],
    ["1", "x|y"],
    ["2", ""],
    ["3", "4"],
  ]);
  expect(textOf(markdown)).toEqual(["paragraph: Results:", "table", "paragraph: after | it"]);
});

test.each(["a | b\n---", "| a | b |\n|---|", "a\n|---|", "x | y\nz | w"])(
  "%j is no table",
  (markdown) => {
    expect(tableOf(markdown)).toBeNull();
  },
);

test("code, emphasis and links to the web are found within a text", () => {
  expect(parseInline("run `a*b*` **now**, *soon* or _later_: [docs](https://e.org/x)")).toEqual([
    { type: "text", text: "run " },
    { type: "code", text: "a*b*" },
    { type: "text", text: " " },
    { type: "strong", text: "now" },
    { type: "text", text: ", " },
    { type: "emphasis", text: "soon" },
    { type: "text", text: " or " },
    { type: "emphasis", text: "later" },
    { type: "text", text: ": " },
    { type: "link", text: "docs", href: "https://e.org/x" },
  ]);
});

test.each([
  "[x](javascript:alert(1))",
  "[x](data:text/html,<b>)",
  "<img src=x onerror=alert(1)>",
  "snake_case_name and 2 * 3 * 4",
  "a ** b ** c",
])("%s stays text", (text) => {
  expect(parseInline(text)).toEqual([{ type: "text", text }]);
});

test("no text makes it slow", () => {
  const texts = ["*", "_", "`", "[", "> ", "- ", "#", "|", "|-|\n", "|-", "**a", "[a](", "    "];
  const started = performance.now();
  for (const text of texts) parseMarkdown(text.repeat(20_000));
  expect(performance.now() - started).toBeLessThan(15_000);
});

test.each([
  ["a heading of spaces", `# a${" ".repeat(50_000)}x`],
  ["a heading of closing marks", `# ${"#".repeat(50_000)}x`],
  ["brackets that are never closed", "[".repeat(50_000)],
  ["spaces in the line below a table's head", `|\n${" ".repeat(50_000)}x|`],
  ["spaces at its end", `|\n|-${" ".repeat(50_000)}x`],
])("%s take no longer than other text", (_what, text) => {
  const startedAt = performance.now();
  parseMarkdown(text);
  expect(performance.now() - startedAt).toBeLessThan(300);
});
