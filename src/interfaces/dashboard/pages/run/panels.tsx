import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { outcomeText } from "../../../../../streams/outcomes.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import type { RunHost } from "../../../../foundation/contracts/run-hosts.ts";
import type { ReceiptView } from "../../../../foundation/contracts/operator-api.ts";
import { runFacts, runHostText } from "../../../views/run-facts.ts";
import type { RunDifference, RunView } from "../../../../runtime/runs/run-view.ts";
import { useDocument } from "../../live/use-document.ts";
import { agentAddress, changesAddress, pathOf } from "../../text/addresses.ts";
import { callNodes, parsed, prettyText } from "../../runs/call-tree.ts";
import { exactTime } from "../../text/format.ts";
import { triggerWords } from "../../runs/trigger-words.ts";
import { CallList, Preformatted } from "../../runs/calls.tsx";
import { Delivery } from "../../runs/delivery.tsx";
import { Difference } from "../../runs/difference.tsx";
import { Markdown } from "../../kit/markdown.tsx";
import { FactList, Items, Panel, Unread } from "../../kit/panel.tsx";
import { FailingSince, RunLink } from "../../runs/run-parts.tsx";
import { Fold } from "../../kit/table.tsx";
import { ListTime } from "../../kit/time.tsx";

interface RunProps {
  readonly run: RunView;
}

/** Content below its title. */
function Titled({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="said">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

/** The returned value, and the model's last words. */
export function Result({
  run: { value, lastWords, outcome },
  class: look,
}: RunProps & { readonly class: string }) {
  const hasValue = value !== null && value !== undefined;
  return (
    <Panel id="result" title="Result" class={look}>
      {!hasValue && lastWords === null && (
        <p class="muted" id="result-note">
          {outcome === null ? "Nothing yet." : "No output."}
        </p>
      )}
      {hasValue && (
        <Titled title="Returned">
          <Preformatted text={prettyText(value)} label="Returned" />
        </Titled>
      )}
      {lastWords !== null && (
        <Titled title="Final message">
          <Markdown text={lastWords} />
        </Titled>
      )}
    </Panel>
  );
}

/** The trigger of the run, and its request. */
export function Trigger({ run, receipt }: RunProps & { readonly receipt: ReceiptView | null }) {
  const context = run.calls.received?.context ?? null;
  const after = (
    <>
      <span id="trigger-words">{triggerWords(run)}</span>
      <span class="muted after">{exactTime(run.at)}</span>
    </>
  );
  return (
    <Panel id="trigger" title="Trigger" after={after}>
      {run.prompt !== null && (
        <Titled title="Prompt">
          <blockquote class="prompt">{plainText(run.prompt)}</blockquote>
        </Titled>
      )}
      {context !== null && (
        <Titled title="Context">
          <Preformatted text={prettyText(parsed(context))} label="Context" />
        </Titled>
      )}
      {run.receiptId !== null && (
        <div class="delivery">
          <Delivery
            receiptId={run.receiptId}
            first={receipt}
            gone="Its delivery is no longer stored."
          />
        </div>
      )}
    </Panel>
  );
}

/** The run's caller, and the calls that it made. */
export function Called({ run }: RunProps) {
  const { received, made } = run.calls;
  if (received === null && made.length === 0) return null;
  return (
    <Panel id="calls" title="Calls" class="calls">
      {received !== null && (
        <p id="called-by">
          Called by <Caller {...received} />
        </p>
      )}
      {made.length > 0 && <CallList nodes={callNodes(made)} />}
    </Panel>
  );
}

/** The runs of its session key. */
export function Thread({ run: { agent, thread } }: RunProps) {
  if (thread === null) return null;
  return (
    <Panel
      id="thread"
      title="Conversation"
      after={<span class="after">{plainText(thread.key)}</span>}
    >
      <Items id="thread" items={thread.runs} most={thread.runs.length} note="">
        {({ instanceId, at, outcome }) => (
          <li key={instanceId}>
            <RunLink agent={agent} instanceId={instanceId} />
            <div class="sub">
              {`${outcome === null ? "running" : outcomeText(outcome)} · `}
              <ListTime at={at} />
            </div>
          </li>
        )}
      </Items>
    </Panel>
  );
}

function Caller({ caller, callerInstance }: NonNullable<RunView["calls"]["received"]>) {
  if (caller === null) return <>an unknown agent</>;
  if (callerInstance === null) return <a href={agentAddress(caller)}>{caller}</a>;
  return <RunLink agent={caller} instanceId={callerInstance} />;
}

/** Facts that the page shows above. */
const shownAbove = ["Duration", "Reason", "Model", "Tokens", "Cost", "Memory"];

/** Times, version and names of the run. */
export function Facts({ run }: RunProps) {
  const facts = runFacts(run, exactTime).filter(([label]) => !shownAbove.includes(label));
  return (
    <Panel id="about" title="Details">
      <FactList id="facts" facts={facts} />
    </Panel>
  );
}

/** How long the agent has been failing, and what changed since its last run that succeeded. */
export function Since({ run, first }: RunProps & { readonly first: RunDifference | null }) {
  const { agent, instanceId, lastSuccess, failing } = run;
  const isFailed = failing !== null;
  const [isRead, setRead] = useState(isFailed);
  if (lastSuccess === null && !isFailed) return null;
  const { changed = null } = lastSuccess ?? {};
  const earlier = lastSuccess?.instanceId ?? "";
  return (
    <Panel id="since" title="Since the last success">
      <FailingSince agent={agent} failing={failing} />
      {!isFailed && <Compared agent={agent} earlier={earlier} changed={changed} />}
      {changed === true && (
        <Fold summary="What changed" isOpen={isFailed} onOpen={() => setRead(true)}>
          {isRead && <Changes instanceId={instanceId} earlier={earlier} first={first} />}
          <a href={changesAddress(agent, instanceId, earlier)}>Show on its own page</a>
        </Fold>
      )}
    </Panel>
  );
}

const comparedWords = {
  true: ["Its config or instructions changed since ", "."],
  false: ["Same configuration as the last success (", ")."],
  null: ["Its version can't be compared with that of ", "."],
} as const;

interface ComparedProps {
  readonly agent: string;
  readonly earlier: string;
  /** Null if a version is not stored. */
  readonly changed: boolean | null;
}

/** Whether the run has the configuration of the last success. */
function Compared({ agent, earlier, changed }: ComparedProps) {
  const [before, after] = comparedWords[`${changed}`];
  return (
    <p id="since-text">
      {before}
      <RunLink agent={agent} instanceId={earlier} />
      {after}
    </p>
  );
}

interface ChangesProps {
  readonly instanceId: string;
  readonly earlier: string;
  readonly first: RunDifference | null;
}

function Changes({ instanceId, earlier, first }: ChangesProps) {
  const path = pathOf`/api/runs/${instanceId}/diff?to=${earlier}`;
  const difference = useDocument<RunDifference>(() => path, { value: first });
  if (difference.value === null) return <Unread documents={[difference]} />;
  return <Difference text={difference.value.text} id="since-changes" />;
}

/** More hosts than these are folded. */
const shownHosts = 10;

/** The hosts that the run reached, or was denied. */
export function Hosts({ hosts }: { readonly hosts: readonly RunHost[] }) {
  if (hosts.length === 0) return null;
  const rest = hosts.slice(shownHosts);
  return (
    <Panel id="hosts" title="Hosts">
      <ul class="claims hosts" id="host-list">
        <HostItems hosts={hosts.slice(0, shownHosts)} />
        {rest.length > 0 && (
          <li>
            <Fold summary={`and ${rest.length} more`}>
              <ul class="claims">
                <HostItems hosts={rest} />
              </ul>
            </Fold>
          </li>
        )}
      </ul>
    </Panel>
  );
}

function HostItems({ hosts }: { readonly hosts: readonly RunHost[] }) {
  return (
    <>
      {hosts.map((host, index) => (
        <li key={index}>
          <code class={host.denied === null ? "" : "outcome failed"}>{runHostText(host)}</code>
        </li>
      ))}
    </>
  );
}
