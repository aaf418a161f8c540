import { readFileSync } from "node:fs";
import { join } from "node:path";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { Markdown } from "../../../../src/interfaces/dashboard/kit/markdown.tsx";

const render = (text: string): string =>
  renderToString(h(Markdown, { text }))
    .replace(/^<div class="markdown ">/, "")
    .replace(/<\/div>$/, "");

// `vitest run <this file> -u` writes the HTML below each text of the fixture anew.
test("the texts of the fixture markdown.txt become the HTML below them", async () => {
  const fixture = readFileSync(join(import.meta.dirname, "markdown.txt"), "utf8");
  const texts = fixture.split("\n\n\n\n").map((one) => one.split(/\n=>(?:\n|$)/)[0] ?? "");
  const rendered = texts
    .filter((text) => text !== "")
    .map((text) => `${text}\n=>\n${render(text.replaceAll("\\r", "\r"))}\n\n\n\n`);
  await expect(rendered.join("")).toMatchFileSnapshot("markdown.txt");
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
