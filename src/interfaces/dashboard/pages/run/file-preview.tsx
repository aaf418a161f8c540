import type {
  ArtifactTextView,
  ArtifactView,
} from "../../../../features/artifacts/artifact-report.ts";
import { bytesText } from "../../../../foundation/contracts/format.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { shownText } from "../../runs/question-words.ts";
import { Markdown } from "../../kit/markdown.tsx";
import { Unread } from "../../kit/panel.tsx";
import { useDocument } from "../../live/use-document.ts";
import { Preformatted } from "../../runs/calls.tsx";
import { parsed, prettyText } from "../../runs/call-tree.ts";
import { artifactAddress, pathOf, withQuery } from "../../text/addresses.ts";
import { publicPath } from "../../text/base-path.ts";
import { csvRows } from "../../text/csv.ts";

interface FileProps {
  readonly file: ArtifactView;
  readonly instanceId: string;
}

/** The content of a file. Pages of strangers, such as HTML and SVG, are only shown as text. */
export function FilePreview(props: FileProps) {
  const { file, instanceId } = props;
  if (file.kind === "text") return <TextPreview {...props} />;
  const address = publicPath(artifactAddress(instanceId, file.path));
  return <img class="artifact-image" src={address} alt={shownText(file.path)} />;
}

/** How much of a text is shown, in bytes. */
const mostBytes = 200_000;

function TextPreview({ file: { path }, instanceId }: FileProps) {
  const address = withQuery(pathOf`/api/runs/${instanceId}/file-text`, { path, most: mostBytes });
  const read = useDocument<ArtifactTextView>(() => address, { isQuiet: true });
  if (read.value === null) return <Unread documents={[read]} />;
  const { text, next } = read.value;
  return (
    <>
      <Content path={path} text={plainText(text)} isWhole={next === null} />
      {next !== null && (
        <p class="muted note">{`The first ${bytesText(next)}. Download the file for the rest.`}</p>
      )}
    </>
  );
}

interface ContentProps {
  readonly path: string;
  readonly text: string;
  readonly isWhole: boolean;
}

function Content({ path, text, isWhole }: ContentProps) {
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  if (["md", "markdown"].includes(extension)) return <Markdown text={text} class="artifact-text" />;
  if (extension === "csv") return <Csv text={text} separator="," label={path} />;
  if (extension === "tsv") return <Csv text={text} separator={"\t"} label={path} />;
  const shown = extension === "json" && isWhole ? prettyText(parsed(text)) : text;
  return <Preformatted text={shown} label={shownText(path)} />;
}

/** The part of a table that is shown. */
const most = { rows: 101, cells: 30 };

interface CsvProps {
  readonly text: string;
  readonly separator: string;
  readonly label: string;
}

function Csv({ text, separator, label }: CsvProps) {
  const [head = [], ...rows] = csvRows(text, separator, most);
  return (
    <div class="artifact-table" tabIndex={0} role="group" aria-label={shownText(label)}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th scope="col" key={index}>
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length >= most.rows - 1 && (
        <p class="muted note">{`The first ${most.rows - 1} rows. Download the file for all.`}</p>
      )}
    </div>
  );
}
