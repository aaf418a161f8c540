import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { announce, showToast } from "../live/toasts.ts";

interface ActionProps {
  readonly act: () => unknown;
  /** Why the action can't be done now; null if it can. Not by `disabled`, which would remove the focus. */
  readonly whyNot?: string | null;
  /** Shown at the first press; a second press within a few seconds confirms. */
  readonly question?: string | undefined;
  /** The button's name for screen readers, if the text alone is not clear. */
  readonly label?: string;
  readonly class?: string;
  /** Shown to a pointer over a button without a text. */
  readonly title?: string;
  readonly id?: string;
  readonly hidden?: boolean;
  /** True in a form that works without script, too. */
  readonly isSubmit?: boolean;
  readonly children: ComponentChildren;
}

const confirmMs = 4_000;

/** A button that runs one action at a time, and keeps the focus meanwhile. */
export function Action(props: ActionProps) {
  const { act, whyNot = null, question, label, id, hidden, isSubmit, children } = props;
  const [isBusy, setBusy] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const ask = (asked: boolean): void => {
    clearTimeout(timer.current);
    if (asked) timer.current = setTimeout(() => setAsked(false), confirmMs);
    setAsked(asked);
  };
  const press = async (): Promise<void> => {
    if (isBusy) return;
    // Touch screens show no title.
    if (whyNot !== null) return showToast(`${whyNot}.`);
    if (question !== undefined) {
      ask(!isAsked);
      if (!isAsked) return announce(question);
    }
    setBusy(true);
    try {
      await act();
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type={isSubmit === true ? "submit" : "button"}
      id={id}
      class={props.class ?? "button acts"}
      hidden={hidden}
      aria-label={isAsked ? undefined : label}
      aria-disabled={whyNot === null ? undefined : "true"}
      aria-busy={isBusy ? "true" : undefined}
      title={whyNot ?? props.title}
      onClick={() => void press()}
    >
      {isAsked ? question : children}
    </button>
  );
}
