import { useRef, useState } from "preact/hooks";
import { announce, showToast } from "../live/toasts.ts";
import { Action } from "./action.tsx";

/** How long the button shows that the text was copied. */
const shownMs = 4_000;

/** The button that copies a text, and the element to select where the browser does not let the page copy. */
function useCopy(text: string, what: string, label: string) {
  const shown = useRef<HTMLPreElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      announce(`${what} copied`);
      setCopied(true);
      setTimeout(() => setCopied(false), shownMs);
    } catch {
      // A page that came over plain HTTP has no clipboard.
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current);
      showToast("Selected: copy it with Ctrl+C.");
    }
  };
  const button = (
    <Action act={copy} class="link" label={label}>
      {isCopied ? "Copied ✓" : "Copy"}
    </Action>
  );
  return { shown, button };
}

/** A text to type or paste elsewhere, with a button that copies it; `label` is its name for screen readers. */
export function Copied({ text, label }: { readonly text: string; readonly label: string }) {
  const { shown, button } = useCopy(text, label, `Copy: ${label}`);
  return (
    <div class="copied">
      <pre tabIndex={0} role="group" aria-label={label} ref={shown}>
        {text}
      </pre>
      {button}
    </div>
  );
}

/** A short text within a line, with a button that copies it. */
export function Copy({ text }: { readonly text: string }) {
  const { shown, button } = useCopy(text, text, `Copy ${text}`);
  return (
    <>
      <code ref={shown}>{text}</code>
      {button}
    </>
  );
}
