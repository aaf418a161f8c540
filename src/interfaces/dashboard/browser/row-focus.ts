/** What a page lists: rows of tables, items of lists, lines of a log. */
const rowSelector = "main :is(tbody tr, li, .line)";
const targetSelector = "a[href], summary, button:not(:disabled)";

/** Focuses the first link of the next row, or of the previous one, so that Enter opens it. */
export function focusRow(step: 1 | -1): void {
  const targets = rowTargets();
  const active = document.activeElement;
  const row = active?.closest(rowSelector) ?? null;
  const current = targets.findIndex((target) => target.closest(rowSelector) === row);
  const next = row === null || current === -1 ? nearest(targets, active, step) : current + step;
  const target = targets[next];
  target?.focus();
  target?.scrollIntoView({ block: "nearest" });
}

/** The first link of each row that is shown, else its first button. */
function rowTargets(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(rowSelector)].flatMap((row) => {
    const targets = [...row.querySelectorAll<HTMLElement>(targetSelector)].filter(
      (target) => target.closest(rowSelector) === row && target.checkVisibility(),
    );
    const target = targets.find((one) => one instanceof HTMLAnchorElement) ?? targets[0];
    return target === undefined ? [] : [target];
  });
}

/** From outside of the rows: the first one behind the focus, or the last one before it. */
function nearest(targets: readonly HTMLElement[], from: Element | null, step: 1 | -1): number {
  if (from === null || from === document.body) return step === 1 ? 0 : targets.length - 1;
  const behind = targets.findIndex(
    (target) => (from.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
  );
  const first = behind === -1 ? targets.length : behind;
  return step === 1 ? first : first - 1;
}
