import { announce, onPress } from "./actions.ts";
import { setAttribute, setText } from "./dom.ts";

/** A button's text, its name for a screen reader, and the question before it acts. */
export interface AskWords {
  readonly text: string;
  readonly label: string;
  readonly question: string;
}

/** A button that asks before it acts. */
export interface AskingButton {
  show(words: AskWords): void;
}

/** A second press within this time confirms. */
const confirmMs = 4_000;

/** Makes a button ask when it is pressed, and act when it is pressed again. */
export function askFirst(button: HTMLElement, action: () => Promise<unknown>): AskingButton {
  let words: AskWords = { text: "", label: "", question: "" };
  let isAsked = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = (): void => {
    setText(button, isAsked ? words.question : words.text);
    setAttribute(button, "aria-label", isAsked ? null : words.label);
  };
  const setAsked = (asked: boolean): void => {
    clearTimeout(timer);
    isAsked = asked;
    if (isAsked) timer = setTimeout(() => setAsked(false), confirmMs);
    write();
  };
  onPress(button, async () => {
    setAsked(!isAsked);
    if (isAsked) announce(words.question);
    else await action();
  });
  return {
    show: (now) => {
      words = now;
      write();
    },
  };
}
