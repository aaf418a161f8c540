import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** Most matches that are marked in one element: one letter may match thousands of times in a long output. */
const maxMarks = 200;

/** Marks a text, lower case, wherever an element has it; "" marks nothing. Copied text is unaffected. */
export function useHighlight(place: RefObject<HTMLElement | null>, wanted: string): void {
  useLayoutEffect(() => {
    if (wanted === "" || place.current === null) return undefined;
    const marks = CSS.highlights.get("match") ?? new Highlight();
    CSS.highlights.set("match", marks);
    const ranges = rangesOf(place.current, wanted);
    for (const range of ranges) marks.add(range);
    return () => {
      for (const range of ranges) marks.delete(range);
    };
  }, [wanted]);
}

function rangesOf(element: Element, wanted: string): readonly StaticRange[] {
  const found: StaticRange[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    // A few letters change their length with their case: positions in such a text are unknown.
    if (text.length !== node.nodeValue?.length) continue;
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      if (found.length === maxMarks) return found;
      const [startOffset, endOffset] = [at, at + wanted.length];
      found.push(
        new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset }),
      );
    }
  }
  return found;
}
