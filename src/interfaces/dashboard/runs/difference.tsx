import type { ComponentChildren } from "preact";
import { differenceLine } from "../../views/run-facts.ts";
import type { FileEdited } from "../../../foundation/contracts/file-edits.ts";
import { Dialog } from "../kit/dialog.tsx";

interface DifferenceProps {
  readonly text: string;
  readonly id?: string;
  /** Leaves out the lines that name files. */
  readonly isBare?: boolean;
}

/** A difference of two texts, each line with the colour of its kind. */
export function Difference({ text, id, isBare = false }: DifferenceProps) {
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = lines.filter(
    (line) => !isBare || !["file", "place"].includes(differenceLine(line)),
  );
  return (
    <pre class="changes" id={id} tabIndex={0} role="group" aria-label="Changes">
      {shown.map((line, index) => (
        <span class={differenceLine(line)} key={index}>
          {line}
        </span>
      ))}
    </pre>
  );
}

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
    <Dialog id={id} title={title} class="wide" confirm="Write it" {...dialog}>
      <p>
        This is written to <code>{edit?.file}</code> and {children}
      </p>
      <Difference id={`${id}-change`} text={edit?.change ?? ""} isBare />
    </Dialog>
  );
}
