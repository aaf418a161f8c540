import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Whether a dialog is open: props for it, and how to open it. */
export function useDialog() {
  const [isOpen, setOpen] = useState(false);
  return { isOpen, open: () => setOpen(true), onClose: () => setOpen(false) };
}

interface DialogProps {
  readonly id: string;
  readonly isOpen: boolean;
  /** Called when it is closed, also by the Escape key. */
  readonly onClose: () => void;
  readonly title: string;
  readonly class?: string;
  /** Confirms; the dialog is then closed, too. */
  readonly onConfirm?: () => void;
  readonly confirm?: string;
  readonly isConfirmDisabled?: boolean;
  readonly cancel?: string;
  readonly children?: ComponentChildren;
}

/** A modal dialog with a form: its content, and two buttons below it. */
export function Dialog(props: DialogProps) {
  const { id, isOpen, onClose, title, onConfirm, confirm, cancel = "Cancel", children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  // The next key must already find the dialog open.
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      id={id}
      class={props.class}
      aria-labelledby={`${id}-title`}
      // The event comes after the closing: the dialog may be open again.
      onClose={() => dialog.current?.open !== true && onClose()}
    >
      <form method="dialog" onSubmit={onConfirm}>
        <h2 id={`${id}-title`}>{title}</h2>
        {children}
        <div class="end">
          <button class="button" type="button" onClick={onClose}>
            {cancel}
          </button>
          {confirm !== undefined && (
            <button
              class="button primary acts"
              type="submit"
              disabled={props.isConfirmDisabled === true}
            >
              {confirm}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}
