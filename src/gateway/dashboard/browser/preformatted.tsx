/** A text longer than this is cut where it is shown, characters. */
const maxShown = 200_000;

/** A text as it is, in a box that scrolls; `label` is its name for a screen reader. */
export function Preformatted({ text, label }: { readonly text: string; readonly label: string }) {
  const isLong = text.length > maxShown;
  return (
    <pre class="payload" tabIndex={0} role="region" aria-label={label}>
      {isLong ? `${text.slice(0, maxShown)}\n… and more` : text}
    </pre>
  );
}
