import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { Markdown } from "../../../../src/interfaces/dashboard/kit/markdown.tsx";

const render = (text: string): string =>
  renderToString(h(Markdown, { text }))
    .replace(/^<div class="markdown ">/, "")
    .replace(/<\/div>$/, "");

test.each([
  ["# Title #", '<div class="heading level-1">Title</div>'],
  ["One line\nand its next.\r\n\r\nAnother", "<p>One line\nand its next.</p><p>Another</p>"],
  ["> said\n> twice", "<blockquote><p>said\ntwice</p></blockquote>"],
  ["a\n\n---", "<p>a</p><hr/>"],
  ["````md\n```js\n~~~\n```\n````\nafter", "<pre>```js\n~~~\n```</pre><p>after</p>"],
  ["```\nrest\n\nof it", "<pre>rest\n\nof it</pre>"],
  [
    "run `a*b*` **now**, *soon*",
    "<p>run <code>a*b*</code> <strong>now</strong>, <em>soon</em></p>",
  ],
  ["snake_case_name and 2 * 3 * 4", "<p>snake_case_name and 2 * 3 * 4</p>"],
])("the Markdown %j becomes its HTML", (text, html) => expect(render(text)).toBe(html));

test("Markdown items keep their number and depth, tables their cells", () => {
  const list = render("2) two\n   - below\n3) three").replaceAll(/<\/?span[^>]*>/g, "");
  expect(list).toBe(
    '<div class="item">2) two<div class="item">• below</div></div><div class="item">3) three</div>',
  );
  const table = render("| a | b |\n|:--|--:|\n| `1` | x\\|y |\n| 2 |");
  expect(table.match(/<t[hd]>.*?<\/t[hd]>/g)?.join("")).toBe(
    "<th>a</th><th>b</th><td><code>1</code></td><td>x|y</td><td>2</td><td></td>",
  );
});

test.each(["https://e.org/x", "http://e.org", "mailto:a@e.org"])(
  "a Markdown link to %s sends no referrer",
  (href) =>
    expect(render(`[docs](${href})`)).toBe(
      `<p><a href="${href}" title="${href}" rel="noopener noreferrer nofollow" target="_blank">docs</a></p>`,
    ),
);

test.each([
  "[x](javascript:alert(1))",
  "[x](data:text/html,<b>)",
  "[x](/dashboard)",
  "<img src=x onerror=alert(1)>",
  "a <b>b</b> <!-- c -->",
  "<script>alert(1)</script>",
  "![x](https://e.org/x.png)",
  "[a]: https://e.org",
])("the Markdown %s stays text", (text) => {
  const html = render(text).replaceAll(/<\/?(p|span)>/g, "");
  expect(html.replaceAll("&lt;", "<").replaceAll("&amp;", "&").replaceAll("&quot;", '"')).toBe(
    text,
  );
  expect(html).not.toMatch(/<(?!\/)/);
});

const marks = ["*", "_", "`", "[", "> ", "- ", "#", "|", "|-|\n", "|-", "**a", "[a](", "    "];
const pairs = [
  "*a_",
  "_a*",
  "1. ",
  "- a\n",
  "~~a",
  "![",
  "<a ",
  "&",
  "`a``",
  "a@b.",
  "\n>",
  "<!--",
];
const hostileTexts: readonly (readonly [string, string])[] = [
  ...[...marks, ...pairs].map((text) => [text, text.repeat(50_000 / text.length)] as const),
  ["spaces in a heading", `# a${" ".repeat(50_000)}x`],
  ["spaces below a table's head", `|\n|-${" ".repeat(50_000)}x|`],
  ["nested lists", Array.from({ length: 300 }, (_, at) => `${"  ".repeat(at)}- a`).join("\n")],
];
test.each(hostileTexts)("Markdown with any number of %j takes at most 1 s", (_text, hostile) => {
  const before = process.threadCpuUsage();
  render(hostile);
  expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(1000);
});
