import type { RunView } from "../../../../runtime/runs/run-view.ts";
import { Panel } from "../../kit/panel.tsx";
import { VersionChanges } from "../../runs/memory-version.tsx";
import { shownText } from "../../runs/question-words.ts";

/** The changes of a run in memories, its proposals, and why the rest was not kept. */
export function Remembered({ run: { memory } }: { readonly run: RunView }) {
  const { versions, proposals, notKept } = memory;
  if (versions.length + proposals.length + notKept.length === 0) return null;
  return (
    <Panel id="memory" title="Memory">
      {notKept.map(({ name, reason }) => (
        <p class="outcome failed" key={name}>
          {name} was not kept: {shownText(reason)}
        </p>
      ))}
      {proposals.map(({ id, name, state }) => (
        <p key={id}>
          Changes to {name}: {state === "open" ? "proposed, not decided. " : `proposed, ${state}`}
          {state === "open" && <a href={`/dashboard/questions#${id}`}>Decide</a>}
        </p>
      ))}
      {versions.map(({ name, n, changes }) => (
        <VersionChanges
          memory={name}
          n={n}
          changes={changes}
          title={`${name} version ${n}: `}
          key={`${name} ${n}`}
        />
      ))}
    </Panel>
  );
}
