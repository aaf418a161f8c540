import { createStore } from "./store.ts";

/** The target of a toast: an address, or an action such as Undo. */
export interface ToastStep {
  readonly words: string;
  readonly href?: string;
  readonly act?: () => unknown;
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly next: ToastStep | undefined;
}

const toastMs = 8_000;
const maxToasts = 4;
let lastId = 0;

/** Messages about actions: why one failed, or a next step. */
export const toasts = createStore<readonly Toast[]>([]);

/** The text that screen readers read out next. */
export const announced = createStore("");

/** Shows a message for a while. If the text is shown already, it moves to the end. */
export function showToast(text: string, next?: ToastStep): void {
  const id = (lastId += 1);
  const others = toasts.get().filter((toast) => toast.text !== text);
  toasts.set([...others, { id, text, next }].slice(-maxToasts));
  setTimeout(() => dismiss((toast) => toast.id === id), toastMs);
}

export function dismiss(isMeant: (toast: Toast) => boolean): void {
  toasts.set(toasts.get().filter((toast) => !isMeant(toast)));
}

/** Announces to screen readers a change that the page shows. */
export function announce(text: string): void {
  announced.set(text);
}
