import { useRef, useState } from "preact/hooks";
import { announce, showToast } from "../live/toasts.ts";
import { Action } from "./action.tsx";

/** How long the button shows that the text was copied. */
const shownMs = 4_000;

interface CopiedProps {
  readonly text: string;
  /** Its name for screen readers; without one it is a short text within a line. */
  readonly label?: string;
}

/** A text to type or paste elsewhere, with a button that copies it. */
export function Copied({ text, label }: CopiedProps) {
  const shown = useRef<HTMLPreElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      announce(`${label ?? text} copied`);
      setCopied(true);
      setTimeout(() => setCopied(false), shownMs);
    } catch {
      // A page that came over plain HTTP has no clipboard.
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current);
      showToast("Selected: copy it with Ctrl+C.");
    }
  };
  const button = (
    <Action act={copy} class="link" label={label === undefined ? `Copy ${text}` : `Copy: ${label}`}>
      {isCopied ? "Copied ✓" : "Copy"}
    </Action>
  );
  if (label === undefined) {
    return (
      <>
        <code ref={shown}>{text}</code>
        {button}
      </>
    );
  }
  return (
    <div class="copied">
      <pre tabIndex={0} role="group" aria-label={label} ref={shown}>
        {text}
      </pre>
      {button}
    </div>
  );
}
