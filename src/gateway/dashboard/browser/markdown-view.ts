import { create, createWebLink } from "./dom.ts";
import { parseInline, parseMarkdown } from "./markdown.ts";
import type { Block, Inline } from "./markdown.ts";

/** A markdown text as elements. Each is made from text, never from markup. */
export function markdownView(text: string): readonly HTMLElement[] {
  return parseMarkdown(text).map(blockView);
}

/** The emphasis, code and links within a text, as elements. */
export function inlineMarkdown(text: string): readonly (HTMLElement | string)[] {
  return parseInline(text).map(inlineView);
}

// The page's own headings are the first two levels.
const headingTags = ["h3", "h4", "h5"] as const;

function blockView(block: Block): HTMLElement {
  switch (block.type) {
    case "heading":
      return element(headingTags[block.level - 1] ?? "h6", block.content);
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
    case "rule":
      return create("hr");
  }
}

function element(tag: keyof HTMLElementTagNameMap, content: readonly Inline[]): HTMLElement {
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
