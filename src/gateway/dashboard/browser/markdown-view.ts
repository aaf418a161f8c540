import { create } from "./dom.ts";
import { parseInline, parseMarkdown } from "./markdown.ts";
import type { Block, Inline } from "./markdown.ts";

/** A markdown text as elements. Each is made from text, never from markup. */
export function markdownView(text: string): readonly HTMLElement[] {
  return parseMarkdown(text).map((block) => blockView(block));
}

/** The emphasis, code and links within a text, as elements. */
export function inlineMarkdown(text: string): readonly (HTMLElement | string)[] {
  return parseInline(text).map((part) => inlineView(part));
}

// The page's own headings are the first two levels.
const headingTags = ["h3", "h4", "h5"] as const;

function blockView(block: Block): HTMLElement {
  switch (block.type) {
    case "heading":
      return filled(create(headingTags[block.level - 1] ?? "h6"), block.content);
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

function filled(element: HTMLElement, content: readonly Inline[]): HTMLElement {
  element.append(...content.map((part) => inlineView(part)));
  return element;
}

const tags = { code: "code", strong: "strong", emphasis: "em" } as const;

function inlineView(part: Inline): HTMLElement | string {
  if (part.type === "text") return part.text;
  if (part.type !== "link") return create(tags[part.type], "", part.text);
  const link = create("a", "", part.text);
  link.href = part.href;
  link.title = part.href;
  link.setAttribute("rel", "noopener noreferrer");
  link.setAttribute("target", "_blank");
  return link;
}
