import { useEffect, useRef, useState } from "preact/hooks";
import type {
  EditableFile,
  ShownFile,
  ShownFiles,
} from "../../../../foundation/contracts/file-edits.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import { agentApi } from "../../text/addresses.ts";
import { Copied } from "../../kit/copied.tsx";
import { FileEditor, type Draft } from "./file-editor.tsx";
import { Markdown } from "../../kit/markdown.tsx";
import { Panel } from "../../kit/panel.tsx";

/** Edits that were begun, by file: they outlive a look at another tab. */
export type Drafts = Readonly<Partial<Record<EditableFile, Draft | null>>>;

/** The drafts of a page. The browser asks before it leaves a page with a text that is not written. */
export function useDrafts() {
  const [drafts, onDrafts] = useState<Drafts>({});
  const isUnsaved = Object.values(drafts).some((draft) => draft && draft.text !== draft.from);
  useEffect(() => {
    if (!isUnsaved) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isUnsaved]);
  return { drafts, onDrafts };
}

interface FileProps {
  readonly agent: string;
  readonly title: string;
  /** The text that is read most, as markdown; null without. */
  readonly rendered?: string | undefined;
}

interface AgentFileProps extends FileProps {
  readonly name: EditableFile;
  readonly first: FirstDocument<ShownFiles>;
  readonly drafts: Drafts;
  readonly onDrafts: (drafts: Drafts) => void;
}

/** The panel with a file of an agent: its text with the errors marked, its path, and an editor. */
export function AgentFile({ name, first, drafts, onDrafts, ...props }: AgentFileProps) {
  const { agent } = props;
  const path = () => `${agentApi(agent)}/files`;
  const { value, failure, refresh } = useDocument(path, { ...first, agent, isQuiet: true });
  const file = value?.files.find((one) => one.name === name);
  if (value === null || file === undefined) {
    return (
      <Panel id="file" title={props.title}>
        <p class="muted note">{failure || "Reading the file …"}</p>
      </Panel>
    );
  }
  const onDraft = (draft: Draft | null): void => onDrafts({ ...drafts, [name]: draft });
  const panel = { ...props, ...value, file, draft: drafts[name] ?? null, onDraft, refresh };
  return <FilePanel {...panel} />;
}

interface FilePanelProps extends FileProps {
  readonly file: ShownFile;
  readonly isEditable: boolean;
  /** Null while the file is only read. */
  readonly draft: Draft | null;
  readonly onDraft: (draft: Draft | null) => void;
  readonly refresh: () => void;
}

function FilePanel(props: FilePanelProps) {
  const { title, file, isEditable, draft, onDraft, rendered } = props;
  const { text, hash, problems } = file;
  const [isRaw, setRaw] = useState(false);
  const edit = useFocusAfter(draft !== null);
  const canRender = draft === null && isCurrent(file, rendered) && problems.length === 0;
  const head = (
    <span class="file-head">
      <Copied text={placeOf(file)} />
      {canRender && (
        <button type="button" class="link" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          As written
        </button>
      )}
      {isEditable && text !== null && draft === null && (
        <button
          type="button"
          class="button acts"
          ref={edit}
          onClick={() => onDraft({ text, hash, from: text })}
        >
          Edit
        </button>
      )}
    </span>
  );
  return (
    <Panel id="file" title={title} after={head}>
      {!isEditable && (
        <p class="muted note">
          Read-only here: <code>[gateway].edit</code> of the project is false.
        </p>
      )}
      {draft === null ? (
        <FileText file={file} rendered={canRender && !isRaw ? rendered : undefined} />
      ) : (
        <FileEditor {...props} draft={draft} />
      )}
    </Panel>
  );
}

const frontMatter = /^\uFEFF?---[ \t]*(?=\n).*?\n---[ \t]*(?:\n|$)/s;

/** Whether the active instructions are those of the file: while an agent's config is broken, earlier ones stay active. */
function isCurrent({ text }: ShownFile, active: string | undefined): boolean {
  return active !== undefined && text?.replace(frontMatter, "").trim() === active.trim();
}

/** A button that takes the focus back when the part that it opened is closed. */
function useFocusAfter(isOpen: boolean) {
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    if (wasOpen.current) button.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return button;
}

/** Where an editor opens the file: at its first error, or else its first warning. */
function placeOf({ path, problems }: ShownFile): string {
  const placed = problems.filter(({ line }) => line !== null);
  const { line, column } = placed.find(({ severity }) => severity === "error") ?? placed[0] ?? {};
  return [path, line, column].filter((part) => part != null).join(":");
}

type FileTextProps = Pick<FilePanelProps, "file" | "rendered">;

/** A file's text as markdown, or with numbered lines and each problem below its line. */
function FileText({ file: { path, text, problems }, rendered }: FileTextProps) {
  if (rendered !== undefined) {
    return <Markdown text={rendered} class="instructions" isOutlined />;
  }
  const at = (line: number | null) => problems.filter((problem) => problem.line === line);
  const lines = (text ?? "").replace(/\n$/, "").split("\n");
  return (
    <pre class="file" tabIndex={0} role="group" aria-label={`Text of ${path}`}>
      <Problems problems={at(null)} />
      {text !== null &&
        lines.map((line, index) => {
          const found = at(index + 1);
          return [
            <span class={`line-of-file ${found[0]?.severity ?? ""}`} key={index}>
              {plainText(line)}
            </span>,
            <Problems problems={found} key={`${index} problems`} />,
          ];
        })}
    </pre>
  );
}

function Problems({ problems }: Pick<ShownFile, "problems">) {
  return (
    <>
      {problems.map(({ severity, message }) => (
        <strong class={`file-problem ${severity}`} key={message}>
          {plainText(message)}
        </strong>
      ))}
    </>
  );
}
