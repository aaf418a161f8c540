import { useRef } from "preact/hooks";
import { showToast } from "../live/toasts.ts";

/** A short text that a person types or opens elsewhere, and the button that copies it. */
export function Copy({ text }: { readonly text: string }) {
  const shown = useRef<HTMLElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      showToast(`Copied ${text}`);
    } catch {
      // Browsers have no clipboard for pages over plain HTTP.
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current);
      showToast("This browser does not let the page copy. The text is selected: press Ctrl+C.");
    }
  };
  return (
    <>
      <code ref={shown}>{text}</code>
      <button type="button" class="link" aria-label={`Copy ${text}`} onClick={() => void copy()}>
        Copy
      </button>
    </>
  );
}
