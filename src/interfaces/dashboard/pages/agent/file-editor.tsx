import { useEffect, useRef, useState } from "preact/hooks";
import type { FileEdited, ShownFile } from "../../../../foundation/contracts/file-edits.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { send } from "../../live/api.ts";
import { announce, showToast } from "../../live/toasts.ts";
import { agentApi } from "../../text/addresses.ts";
import { Action } from "../../kit/action.tsx";
import { useDialog } from "../../kit/dialog.tsx";
import { Notice } from "../../kit/site.tsx";
import { WriteDialog } from "./write-dialog.tsx";

/** An edit that is not written yet. */
export interface Draft {
  readonly text: string;
  /** The text that it began with. */
  readonly from: string;
  /** The hash of the text on disk that it replaces. */
  readonly hash: string;
}

interface FileEditorProps {
  readonly agent: string;
  /** The file's text on disk. */
  readonly file: ShownFile;
  readonly draft: Draft;
  /** Null ends the edit. */
  readonly onDraft: (draft: Draft | null) => void;
  readonly refresh: () => void;
}

/** The editor of a file: a change is shown before it is written. */
export function FileEditor({ agent, file, draft, onDraft, refresh }: FileEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [refusal, setRefusal] = useState("");
  const [edit, setEdit] = useState<FileEdited | null>(null);
  const dialog = useDialog();
  const isStale = draft.hash !== file.hash;
  const numbers = useRef<HTMLPreElement>(null);
  const lineCount = draft.text.split("\n").length;
  // Wrapped lines would not stand beside their numbers.
  const isProse = file.name === "SKILL.md";
  useEffect(() => {
    field.current?.setSelectionRange(0, 0);
    field.current?.focus();
  }, []);
  const request = async (dryRun: boolean): Promise<FileEdited | null> => {
    const { text, hash } = draft;
    const body = { file: file.name, text, hash, dryRun };
    const answer = await send<FileEdited>(`${agentApi(agent)}/files`, body);
    setRefusal(answer.ok ? "" : answer.detail);
    if (answer.ok) return answer.value;
    // The file may have changed on disk.
    refresh();
    if (field.current !== null) goToLine(field.current, file.path, answer.detail);
    return null;
  };
  const review = async (): Promise<void> => {
    const shown = await request(true);
    if (shown === null) return;
    if (shown.change === "") return showToast("Nothing was changed.");
    setEdit(shown);
    dialog.open();
  };
  const write = async (): Promise<void> => {
    if ((await request(false)) === null) return;
    announce(`Saved ${file.path}`);
    onDraft(null);
    refresh();
  };
  return (
    <div class="editor">
      <Notice kind="error lines" id="edit-refusal" text={isStale ? null : refusal} />
      {isStale && (
        <div class="notice warning" id="edit-conflict" role="alert">
          <p>
            {file.path} has changed on disk since you began. It is now as below; your text is in the
            field.
          </p>
          <pre tabIndex={0} role="group" aria-label="The file on disk">
            {file.text}
          </pre>
          <button
            type="button"
            class="button acts"
            onClick={() => {
              setRefusal("");
              onDraft({ ...draft, hash: file.hash });
            }}
          >
            Keep my text
          </button>{" "}
          <button type="button" class="button" onClick={() => onDraft(null)}>
            Discard my text
          </button>
        </div>
      )}
      <Notice kind="warning lines" id="edit-problems" text={isStale ? null : problemsOf(file)} />
      <div class={isProse ? "" : "numbered"}>
        {!isProse && (
          <pre class="line-numbers" ref={numbers} aria-hidden="true">
            {Array.from({ length: lineCount }, (_, index) => index + 1).join("\n")}
          </pre>
        )}
        <textarea
          ref={field}
          aria-label={`Text of ${file.path}`}
          spellcheck={false}
          wrap={isProse ? undefined : "off"}
          rows={Math.min(40, Math.max(12, lineCount + 1))}
          value={draft.text}
          onScroll={({ currentTarget }) => {
            if (numbers.current !== null) numbers.current.scrollTop = currentTarget.scrollTop;
          }}
          onInput={({ currentTarget }) => onDraft({ ...draft, text: currentTarget.value })}
        />
      </div>
      <div class="end">
        <button class="button" type="button" onClick={() => onDraft(null)}>
          Cancel
        </button>
        <Action
          class="button acts primary"
          act={review}
          whyNot={isStale ? "Choose first whether to keep your text" : null}
        >
          Review the change …
        </Action>
      </div>
      <WriteDialog
        id="write-dialog"
        title={`Save changes to ${file.name} of ${agent}`}
        edit={edit}
        onConfirm={() => void write()}
        {...dialog}
      >
        applies to runs that start from then on.
      </WriteDialog>
    </div>
  );
}

/** The problems of the file on disk; empty without one. */
function problemsOf({ problems }: ShownFile): string {
  return problems
    .map(({ line, column, message }) => {
      const place = [line, column].filter((part) => part !== null).join(":");
      return plainText(place === "" ? message : `${place}  ${message}`);
    })
    .join("\n");
}

/** Puts the cursor into the line of the file that a refusal names. */
function goToLine(field: HTMLTextAreaElement, path: string, refusal: string): void {
  const line = Number(/^\d+/.exec(refusal.split(`${path}:`)[1] ?? "")?.[0] ?? 0);
  if (line === 0) return;
  const lines = field.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  field.focus();
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
}
