import type { ComponentChildren } from "preact";
import type { FileEdited } from "../../../../foundation/contracts/file-edits.ts";
import { Dialog } from "../../kit/dialog.tsx";
import { Upcoming } from "./detail.tsx";
import { Difference } from "../../runs/difference.tsx";

interface WriteDialogProps {
  readonly id: string;
  readonly title: string;
  /** The answer to the dry run; null before there is one. */
  readonly edit: FileEdited | null;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
  /** When the change applies. */
  readonly children: ComponentChildren;
}

/** The dialog that shows a change of an agent's file before it is written. */
export function WriteDialog({ id, title, edit, children, ...dialog }: WriteDialogProps) {
  return (
    <Dialog id={id} title={title} class="wide" confirm="Save changes" {...dialog}>
      <p>
        Changes <code>{edit?.file}</code> and {children}
      </p>
      <Difference id={`${id}-change`} text={edit?.change ?? ""} isBare />
      {edit?.next !== undefined && (
        <>
          <h3>Next runs by the new text</h3>
          {edit.next.length === 0 ? <p>None.</p> : <Upcoming id={`${id}-next`} runs={edit.next} />}
        </>
      )}
    </Dialog>
  );
}
