/** Marks a text wherever lines have it. The lines themselves stay as they are: copies and folding don't notice. */
export interface LogHighlight {
  /** The text to mark from now on, lower case; nothing for "". */
  setText(text: string): void;
  /** Marks it in what a line says; its time and its level are no text that a filter finds. */
  mark(line: HTMLElement): void;
  forget(line: HTMLElement): void;
}

/** Marks of one line: a long output of one letter is no use in colour. */
const maxMarks = 200;

export function createLogHighlight(): LogHighlight {
  const marks = new Highlight();
  const ofLine = new Map<HTMLElement, readonly StaticRange[]>();
  CSS.highlights.set("match", marks);
  let wanted = "";
  const forget = (line: HTMLElement): void => {
    for (const range of ofLine.get(line) ?? []) marks.delete(range);
    ofLine.delete(line);
  };
  return {
    setText: (text) => {
      wanted = text;
      marks.clear();
      ofLine.clear();
    },
    mark: (line) => {
      if (wanted === "") return;
      const ranges = rangesOf(line.querySelector(".content") ?? line, wanted);
      if (ranges.length > 0) ofLine.set(line, ranges);
      for (const range of ranges) marks.add(range);
    },
    forget,
  };
}

function rangesOf(line: Element, wanted: string): readonly StaticRange[] {
  const found: StaticRange[] = [];
  const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    // A few letters change their length with their case: places in such a text are not known.
    if (text.length !== node.nodeValue?.length) continue;
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      if (found.length === maxMarks) return found;
      // One that follows changes would collapse where its line is put on the page.
      const [startOffset, endOffset] = [at, at + wanted.length];
      found.push(
        new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset }),
      );
    }
  }
  return found;
}
