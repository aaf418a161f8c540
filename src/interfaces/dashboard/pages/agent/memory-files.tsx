import { useState } from "preact/hooks";
import type { MemoryText, MemoryView } from "../../../../features/memory/memory-views.ts";
import { bytesText } from "../../../../foundation/contracts/format.ts";
import { useDocument } from "../../live/use-document.ts";
import { memoryApi, withQuery } from "../../text/addresses.ts";
import { Preformatted } from "../../runs/calls.tsx";
import { shownText } from "../../runs/question-words.ts";
import { Panel } from "../../kit/panel.tsx";
import { Fold } from "../../kit/table.tsx";

/** The panel with the files of a memory and their sizes against its limits. */
export function MemoryFiles({ memory }: { readonly memory: MemoryView }) {
  const { name, files, bytes, limits, conflicts } = memory;
  return (
    <Panel
      id="memory-files"
      title="Files"
      after={<span class="muted after">{usedText(bytes, limits)}</span>}
    >
      <ul class="claims">
        {files.map(({ path, bytes: size }) => (
          <li key={path}>
            <File memory={name} path={path} isConflict={conflicts.includes(path)} />
            <div class="sub">
              {bytesText(size)} · <a href={downloadOf(name, path)}>Download</a>
            </div>
          </li>
        ))}
      </ul>
      <p class="muted note" hidden={limits !== null && files.length > 0}>
        {limits === null
          ? "The config no longer has this memory: runs don't get it."
          : "It has no files."}
      </p>
    </Panel>
  );
}

interface FileProps {
  readonly memory: string;
  readonly path: string;
  readonly isConflict: boolean;
}

/** A file, folded, whose content is read when it is opened. */
function File({ memory, path, isConflict }: FileProps) {
  const [isRead, setRead] = useState(false);
  const summary = (
    <>
      <code>{shownText(path)}</code> {isConflict && <span class="pill warning">conflict</span>}
    </>
  );
  return (
    <Fold summary={summary} onOpen={() => setRead(true)}>
      {isRead && <FileText memory={memory} path={path} />}
    </Fold>
  );
}

function downloadOf(memory: string, path: string): string {
  return `${memoryApi(memory)}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}

function usedText(bytes: number, limits: MemoryView["limits"]): string {
  if (limits === null) return bytesText(bytes);
  const { maxBytes, maxFileBytes } = limits;
  return `${bytesText(bytes)} of ${bytesText(maxBytes)}, each at most ${bytesText(maxFileBytes)}`;
}

function FileText({ memory, path }: Pick<FileProps, "memory" | "path">) {
  const address = () => withQuery(`${memoryApi(memory)}/text`, { path });
  const { value, failure } = useDocument<MemoryText>(address, { isQuiet: true });
  if (value === null) return <p class="muted">{failure || "Reading the file …"}</p>;
  if (value.text === null) return <p class="muted">It is binary, or too large to show.</p>;
  return <Preformatted text={shownText(value.text)} label={path} />;
}
