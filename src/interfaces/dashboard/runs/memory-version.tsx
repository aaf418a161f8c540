import { useState } from "preact/hooks";
import { changesText } from "../../../features/memory/changes-text.ts";
import type { MemoryDifference, MemoryVersionView } from "../../../features/memory/memory-views.ts";
import { useDocument } from "../live/use-document.ts";
import { memoryApi, withQuery } from "../text/addresses.ts";
import { Fold } from "../kit/table.tsx";
import { Difference } from "./difference.tsx";
import { shownText } from "./question-words.ts";

interface VersionProps extends Pick<MemoryVersionView, "n" | "changes"> {
  /** `<agent>`, or `shared/<name>`. */
  readonly memory: string;
  /** Begins the summary. */
  readonly title?: string;
}

/** The changes of a version of a memory, folded, and read when they are opened. */
export function VersionChanges({ memory, n, changes, title = "" }: VersionProps) {
  const [isRead, setRead] = useState(false);
  return (
    <Fold summary={`${title}${shownText(changesText(changes))}`} onOpen={() => setRead(true)}>
      {isRead && <VersionDifference memory={memory} n={n} />}
    </Fold>
  );
}

/** Runs wrote the files: hidden characters are shown. */
function VersionDifference({ memory, n }: Pick<VersionProps, "memory" | "n">) {
  const path = () => withQuery(`${memoryApi(memory)}/diff`, { to: n });
  const { value, failure } = useDocument<MemoryDifference>(path, { isQuiet: true });
  if (value === null) return <p class="muted note">{failure || "Reading the difference …"}</p>;
  return <Difference text={shownText(value.text)} />;
}
