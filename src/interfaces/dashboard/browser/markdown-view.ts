import { create, createWebLink } from "./dom.ts";
import { parseMarkdown } from "./markdown.ts";
import type { Block, Inline } from "./markdown.ts";

type Tag = keyof HTMLElementTagNameMap;

// The page's own headings are the first two levels.
const pageHeadings: readonly Tag[] = ["h3", "h4", "h5", "h6"];

/** A markdown text as elements. Each is made from text, never from markup. */
export function markdownView(text: string): readonly HTMLElement[] {
  return parseMarkdown(text).map((block) => blockView(block, pageHeadings));
}

/** The same for a line of a log, whose headings are no part of the page's outline. */
export function transcriptView(text: string): readonly HTMLElement[] {
  return parseMarkdown(text).map((block) => blockView(block, ["div"]));
}

function blockView(block: Block, headings: readonly Tag[]): HTMLElement {
  switch (block.type) {
    case "heading": {
      const tag = headings[block.level - 1] ?? headings.at(-1) ?? "div";
      return create(tag, `heading level-${block.level}`, ...block.content.map(inlineView));
    }
    case "paragraph":
      return element("p", block.content);
    case "quote":
      return element("blockquote", block.content);
    case "item": {
      const marker = create("span", "marker", `${block.marker} `);
      return create("div", `item depth-${block.depth}`, marker, element("span", block.content));
    }
    case "code":
      return create("pre", "", block.text);
    case "table":
      return tableView(block.head, block.rows);
    case "rule":
      return create("hr");
  }
}

function tableView(
  head: readonly (readonly Inline[])[],
  rows: readonly (readonly (readonly Inline[])[])[],
): HTMLElement {
  const row = (tag: "th" | "td", cells: readonly (readonly Inline[])[]): HTMLElement =>
    create("tr", "", ...cells.map((cell) => element(tag, cell)));
  const body = rows.map((cells) => row("td", cells));
  return create("table", "", create("thead", "", row("th", head)), create("tbody", "", ...body));
}

function element(tag: Tag, content: readonly Inline[]): HTMLElement {
  return create(tag, "", ...content.map(inlineView));
}

const tags = { code: "code", strong: "strong", emphasis: "em" } as const;

function inlineView(part: Inline): HTMLElement | string {
  if (part.type === "text") return part.text;
  if (part.type !== "link") return create(tags[part.type], "", part.text);
  const link = createWebLink(part.href, "", part.text);
  link.title = part.href;
  return link;
}
