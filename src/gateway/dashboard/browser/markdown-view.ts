import { create } from "./dom.ts";
import type { PageElement } from "./dom.ts";
import { parseInline, parseMarkdown } from "./markdown.ts";
import type { Block, Inline } from "./markdown.ts";

/** A markdown text as elements. Each is made from text, never from markup. */
export function markdownView(text: string): readonly PageElement[] {
  return parseMarkdown(text).map((block) => blockView(block));
}

/** The emphasis, code and links within a text, as elements. */
export function inlineMarkdown(text: string): readonly (PageElement | string)[] {
  return parseInline(text).map((part) => inlineView(part));
}

function blockView(block: Block): PageElement {
  switch (block.type) {
    case "heading":
      // The page's own headings are the first two levels.
      return filled(create(`h${Math.min(block.level + 2, 6)}`), block.content);
    case "paragraph":
      return filled(create("p"), block.content);
    case "quote":
      return filled(create("blockquote"), block.content);
    case "item": {
      const element = create("div", `item depth-${block.depth}`);
      const text = filled(create("span"), block.content);
      element.append(create("span", "marker", `${block.marker} `), text);
      return element;
    }
    case "code":
      return create("pre", "", block.text);
    case "rule":
      return create("hr");
  }
}

function filled(element: PageElement, content: readonly Inline[]): PageElement {
  element.append(...content.map((part) => inlineView(part)));
  return element;
}

const tags = { code: "code", strong: "strong", emphasis: "em" } as const;

function inlineView(part: Inline): PageElement | string {
  if (part.type === "text") return part.text;
  if (part.type !== "link") return create(tags[part.type], "", part.text);
  const link = create("a", "", part.text);
  link.href = part.href;
  link.title = part.href;
  link.setAttribute("rel", "noopener noreferrer");
  link.setAttribute("target", "_blank");
  return link;
}
