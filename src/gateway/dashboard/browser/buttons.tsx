import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { announce, showToast } from "./actions.ts";

interface ButtonProps {
  readonly id?: string;
  readonly class: string;
  /** Its name for a screen reader, where that is not its text. */
  readonly label?: string | undefined;
  /** Why the scheduler would refuse the action; null or absent when it would not. */
  readonly whyNot?: string | null;
  readonly onPress: () => unknown;
  readonly children: ComponentChildren;
}

/**
 * Runs an action when it is pressed, once at a time. Not disabled by `disabled`, which would take the focus away; who
 * presses one that can't be pressed is shown why, as a finger sees no title.
 */
export function Button({ id, label, whyNot = null, onPress, children, ...props }: ButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const press = (): void => {
    if (whyNot !== null) return showToast(`${whyNot}.`);
    if (isBusy) return;
    setBusy(true);
    void Promise.resolve(onPress()).finally(() => setBusy(false));
  };
  return (
    <button
      id={id}
      type="button"
      class={props.class}
      aria-label={label}
      aria-busy={isBusy ? true : undefined}
      aria-disabled={whyNot === null ? undefined : true}
      title={whyNot ?? undefined}
      onClick={press}
    >
      {children}
    </button>
  );
}

/** A second press within this time confirms. */
const confirmMs = 4_000;

/** Asks `question` when it is pressed, and acts when it is pressed again. */
export function ConfirmButton(props: ButtonProps & { readonly question: string }) {
  const { question, onPress, ...button } = props;
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setAsking(false), isAsking ? confirmMs : 0);
    return () => clearTimeout(timer);
  }, [isAsking]);
  const press = (): unknown => {
    setAsking(!isAsking);
    return isAsking ? onPress() : announce(question);
  };
  return isAsking ? (
    <Button {...button} label={undefined} onPress={press}>
      {question}
    </Button>
  ) : (
    <Button {...button} onPress={press} />
  );
}
