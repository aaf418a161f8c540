import type { MemoryVersionsView, MemoryView } from "../../../../features/memory/memory-views.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import {
  agentAddress,
  memoryApi,
  questionsAddress,
  runAddress,
  withQuery,
} from "../../text/addresses.ts";
import { shownText } from "../../runs/question-words.ts";
import { Copied } from "../../kit/copied.tsx";
import { Panel } from "../../kit/panel.tsx";
import { Notice } from "../../kit/site.tsx";
import { MemoryFiles } from "./memory-files.tsx";
import { MemoryVersions } from "./memory-versions.tsx";

interface MemoryProps {
  readonly agent: string;
  /** `<agent>`, or `shared/<name>`. */
  readonly name: string;
  /** Names of the agent's shared memories. */
  readonly shared: readonly string[];
  readonly first: {
    readonly memory: FirstDocument<MemoryView>;
    readonly versions: FirstDocument<MemoryVersionsView>;
  };
  readonly onOpen: (filters: { readonly tab: string; readonly of?: string }) => void;
}

/** The memory of an agent: its files against their limits, its versions, and the memories that it shares. */
export function Memory(props: MemoryProps) {
  const { agent, name, first } = props;
  const api = memoryApi(name);
  const about = { agent, view: name, isQuiet: true };
  const memory = useDocument(() => api, { ...first.memory, ...about });
  const versions = useDocument(() => `${api}/versions`, { ...first.versions, ...about });
  const refresh = (): void => [memory, versions].forEach((each) => each.refresh());
  return (
    <>
      <Choice {...props} />
      {memory.value === null ? (
        <NoMemory agent={agent} failure={memory.status === 404 ? null : memory.failure} />
      ) : (
        <>
          <Notices agent={agent} memory={memory.value} />
          <div class="columns">
            <MemoryVersions
              agent={agent}
              name={memory.value.name}
              latest={memory.value.version}
              versions={versions.value}
              failure={versions.failure}
              refresh={refresh}
            />
            <MemoryFiles memory={memory.value} />
          </div>
        </>
      )}
    </>
  );
}

/** Leads from the agent's own memory to those that it shares. */
function Choice({ agent, name, shared, onOpen }: MemoryProps) {
  if (shared.length === 0) return null;
  return (
    <nav class="tabs" aria-label="Memories">
      {[agent, ...shared.map((one) => `shared/${one}`)].map((one) => {
        const filters = { tab: "memory", ...(one !== agent && { of: one }) };
        return (
          <a
            href={withQuery(agentAddress(agent), filters)}
            aria-current={one === name ? "page" : undefined}
            key={one}
            onClick={(event) => {
              event.preventDefault();
              onOpen(filters);
            }}
          >
            {one === agent ? "Own memory" : one}
          </a>
        );
      })}
    </nav>
  );
}

interface NoMemoryProps {
  readonly agent: string;
  /** Null if the agent has no memory; otherwise why it can't be read, or empty while it is. */
  readonly failure: string | null;
}

function NoMemory({ agent, failure }: NoMemoryProps) {
  if (failure !== null) {
    return (
      <Panel id="memory" title="Memory">
        <p class="muted note">{failure || "Reading the memory …"}</p>
      </Panel>
    );
  }
  return (
    <div class="muted none panel" id="memory">
      <p>
        Runs of {agent} remember nothing. With this line in its config.toml, they keep the folder
        memory/ from one run to the next:
      </p>
      <Copied text="[memory]" label="Config" />
    </div>
  );
}

function Notices({ agent, memory }: { readonly agent: string; readonly memory: MemoryView }) {
  const { notKept, conflicts, proposals } = memory;
  return (
    <>
      {notKept !== null && (
        <p class="notice warning" id="not-kept">
          The files of <a href={runAddress(agent, notKept.instanceId)}>{notKept.instanceId}</a> were
          not kept: {shownText(notKept.reason)}
        </p>
      )}
      {proposals > 0 && (
        <p class="notice warning" id="proposed">
          {counted(proposals, "proposal")} of untrusted runs {proposals === 1 ? "waits" : "wait"}{" "}
          for a person. <a href={questionsAddress(agent)}>Decide</a>
        </p>
      )}
      <Notice
        kind="warning"
        id="conflicts"
        text={conflicts.length === 0 ? null : conflictText(conflicts)}
      />
    </>
  );
}

function conflictText(conflicts: readonly string[]): string {
  const names = shownText(conflicts.join(", "));
  return `Runs at once changed the same file. The later change is in ${names}; the next run is asked to merge it.`;
}
