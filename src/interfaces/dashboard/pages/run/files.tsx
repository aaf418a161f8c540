import type {
  ArtifactsView,
  ArtifactView,
} from "../../../../features/artifacts/artifact-report.ts";
import { useState } from "preact/hooks";
import { bytesText, counted } from "../../../../foundation/contracts/format.ts";
import { shownText } from "../../runs/question-words.ts";
import { Panel } from "../../kit/panel.tsx";
import { Fold } from "../../kit/table.tsx";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import { artifactAddress, pathOf } from "../../text/addresses.ts";
import { joined } from "../../text/format.ts";
import { FilePreview } from "./file-preview.tsx";

interface FilesProps {
  readonly agent: string;
  readonly instanceId: string;
  readonly first: FirstDocument<ArtifactsView>;
  readonly isOver: boolean;
  readonly class: string;
}

/** The files that a run left, each with its preview; absent for a run without files. */
export function Files({ agent, instanceId, first, isOver, class: look }: FilesProps) {
  const [wasOver] = useState(isOver);
  const { value } = useDocument<ArtifactsView>(() => pathOf`/api/runs/${instanceId}/files`, {
    ...first,
    agent,
    // The files of a run are stored before its end is.
    isOpen: () => !wasOver,
    isQuiet: true,
  });
  if (value === null) return null;
  const { files, bytes, leftOut, dropped } = value;
  const leftOutCount = leftOut.files.length + leftOut.more;
  if (files.length + leftOutCount + dropped === 0) return null;
  const isScanned = files.some(({ kind }) => kind === "text");
  return (
    <Panel
      id="files"
      title="Files"
      class={look}
      after={
        files.length > 0 && (
          <span class="muted after">{`${counted(files.length, "file")}, ${bytesText(bytes)}`}</span>
        )
      }
    >
      <ul class="claims artifacts">
        {files.map((file) => (
          <File file={file} instanceId={instanceId} key={file.path} />
        ))}
      </ul>
      {isScanned && <p class="muted note">Known secrets in texts are redacted.</p>}
      <p class="muted note" id="files-dropped" hidden={dropped === 0}>
        {`Deleted: ${counted(dropped, "file")}, because the artifacts of all runs exceeded the project's [artifacts].maxBytes.`}
      </p>
      {leftOutCount > 0 && <NotKept {...leftOut} />}
    </Panel>
  );
}

interface FileProps {
  readonly file: ArtifactView;
  readonly instanceId: string;
}

function File({ file, instanceId }: FileProps) {
  const { path, bytes, kind, executable } = file;
  const [isRead, setRead] = useState(false);
  const address = artifactAddress(instanceId, path);
  const facts = joined(
    [bytesText(bytes), executable && "executable", kind !== "text" && "not scanned"],
    ", ",
  );
  const name = <span class="artifact-name">{shownText(path)}</span>;
  return (
    <li class="artifact">
      {kind === "binary" ? (
        name
      ) : (
        <Fold summary={name} onOpen={() => setRead(true)}>
          {isRead && <FilePreview file={file} instanceId={instanceId} />}
        </Fold>
      )}
      <span class="artifact-facts muted">{facts}</span>
      <a href={address} download aria-label={`Download ${shownText(path)}`}>
        Download
      </a>
    </li>
  );
}

function NotKept({ files, more }: ArtifactsView["leftOut"]) {
  const summary = `${counted(files.length + more, "file")} not kept`;
  return (
    <Fold summary={summary} class="not-kept">
      <ul class="claims">
        {files.map(({ path, bytes, why }) => (
          <li key={path}>
            <span class="artifact-name">{shownText(path)}</span>{" "}
            <span class="muted">
              {joined([bytes !== null && bytesText(bytes), shownText(why)], ", ")}
            </span>
          </li>
        ))}
        {more > 0 && <li class="muted">{`and ${counted(more, "other")}`}</li>}
      </ul>
    </Fold>
  );
}
