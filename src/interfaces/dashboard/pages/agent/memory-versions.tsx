import { useState } from "preact/hooks";
import type {
  MemoryDifference,
  MemoryVersionsView,
  MemoryVersionView,
} from "../../../../features/memory/memory-views.ts";
import { bytesText } from "../../../../foundation/contracts/format.ts";
import { personText } from "../../../../foundation/contracts/questions.ts";
import { fetchJson, post } from "../../live/api.ts";
import { announce, showToast } from "../../live/toasts.ts";
import { memoryApi, withQuery } from "../../text/addresses.ts";
import { Difference } from "../../runs/difference.tsx";
import { VersionChanges } from "../../runs/memory-version.tsx";
import { shownText } from "../../runs/question-words.ts";
import { RunLink } from "../../runs/run-parts.tsx";
import { Action } from "../../kit/action.tsx";
import { Dialog, useDialog } from "../../kit/dialog.tsx";
import { Panel } from "../../kit/panel.tsx";
import { ListTime } from "../../kit/time.tsx";

interface VersionsProps {
  readonly agent: string;
  readonly name: string;
  readonly latest: number;
  /** Null before they are read. */
  readonly versions: MemoryVersionsView | null;
  readonly failure: string;
  readonly refresh: () => void;
}

/** The run or the person behind a version. */
function Source({ instanceId, by }: MemoryVersionView) {
  return (
    <>
      <RunLink agent={instanceId?.slice(0, -9) ?? null} instanceId={instanceId} />
      {by !== null &&
        shownText(` ${instanceId === null ? "restored" : "allowed"} by ${personText(by)}`)}
    </>
  );
}

/** The panel with the versions of a memory, and the dialog that restores one. */
export function MemoryVersions({ agent, name, latest, versions, failure, refresh }: VersionsProps) {
  const dialog = useDialog();
  const [asked, setAsked] = useState<MemoryDifference | null>(null);
  const api = memoryApi(name);
  const ask = async (n: number): Promise<void> => {
    const path = withQuery(`${api}/diff`, { from: String(latest), to: String(n) });
    const found = await fetchJson<MemoryDifference>(path);
    if (!found.ok) return showToast(found.detail);
    setAsked(found.value);
    dialog.open();
  };
  const restore = async (): Promise<void> => {
    const version = asked?.to ?? 0;
    if ((await post(`${api}/restore`, { version })) === null) return;
    announce(`Restored version ${version} of ${name}`);
    refresh();
  };
  const note =
    versions === null
      ? failure || "Reading the versions …"
      : versions.versions.length === 0
        ? `No run of ${agent} has written to it yet.`
        : versions.next === null
          ? ""
          : `Older ones: al memory log ${name} -n 100`;
  return (
    <Panel id="versions" title="Versions">
      <ul class="claims versions">
        {versions?.versions.map((version) => (
          <li key={version.n}>
            <div>
              <strong>Version {version.n}</strong> · <ListTime at={version.at} /> ·{" "}
              <Source {...version} /> · {bytesText(version.bytes)}
            </div>
            <VersionChanges memory={name} {...version} />
            {version.n !== latest && (
              <Action
                class="link acts"
                label={`Restore version ${version.n} …`}
                act={() => ask(version.n)}
              >
                Restore …
              </Action>
            )}
          </li>
        ))}
      </ul>
      <p class="muted note" hidden={note === ""}>
        {note}
      </p>
      <Dialog
        id="restore-dialog"
        title={`Restore version ${asked?.to ?? ""} of ${name}`}
        confirm="Restore"
        onConfirm={() => void restore()}
        {...dialog}
      >
        <p>It becomes a new version. Running runs keep their files; what they change is merged.</p>
        {asked !== null && asked.text !== "" && <Difference text={shownText(asked.text)} />}
      </Dialog>
    </Panel>
  );
}
