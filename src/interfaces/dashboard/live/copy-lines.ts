/** Copies several lines as lines of text; a browser alone breaks each after its time and its level. */
export function copyLines(event: ClipboardEvent & { readonly currentTarget: HTMLElement }): void {
  const selection = getSelection();
  if (selection === null || selection.rangeCount === 0) return;
  const range = selection.getRangeAt(0);
  const lines = childrenOf(event.currentTarget).filter(
    (line) => !line.hidden && selection.containsNode(line, true) && reaches(range, line),
  );
  if (lines.length < 2) return;
  event.clipboardData?.setData("text/plain", lines.map((line) => lineText(line)).join("\n"));
  event.preventDefault();
}

/** A click that selects one line ends before the first character of the next. */
function reaches(range: Range, line: HTMLElement): boolean {
  if (!line.contains(range.endContainer)) return true;
  const part = document.createRange();
  part.setStart(line, 0);
  part.setEnd(range.endContainer, range.endOffset);
  return String(part) !== "";
}

function lineText(line: HTMLElement): string {
  const [at, level, content] = childrenOf(line);
  if (at === undefined || level === undefined || content === undefined) return line.innerText;
  return `${at.innerText} ${level.innerText.padEnd(5)} ${content.innerText.trim()}`;
}

function childrenOf(element: HTMLElement): readonly HTMLElement[] {
  return [...element.children].filter((child) => child instanceof HTMLElement);
}
