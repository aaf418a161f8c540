import { useEffect } from "preact/hooks";
import { durationText } from "../../../../../streams/duration-text.ts";
import type { TraceView } from "../../../../runtime/runs/trace-view.ts";
import { traceMs, traceRows, type TraceRow } from "../../../views/trace-rows.ts";
import { Panel, Unread } from "../../kit/panel.tsx";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import { lineAddress, pathOf } from "../../text/addresses.ts";
import { joined, percent } from "../../text/format.ts";

interface TraceProps {
  readonly agent: string;
  readonly instanceId: string;
  readonly first: FirstDocument<TraceView>;
  /** How many lines the run has logged since the page was opened. */
  readonly received: number;
  readonly class: string;
  /** Opens the log at a position. */
  readonly onOpen: (position: string) => void;
}

/** A trace is made from the run's whole log: it is read again no sooner, in ms. */
const pauseMs = 3_000;
/** Bars of steps that took no time are visible, too. */
const leastShare = 0.004;

/** The steps of a run as a waterfall, which grows while the run works. */
export function Trace({ agent, instanceId, first, received, class: look, onOpen }: TraceProps) {
  const read = useDocument<TraceView>(() => pathOf`/api/runs/${instanceId}/trace`, {
    ...first,
    agent,
    isOpen: ({ isOver }) => !isOver,
    isQuiet: true,
    pauseMs,
  });
  useEffect(() => {
    if (received > 0) read.refresh();
  }, [received]);
  const trace = read.value;
  if (trace === null) {
    return (
      <Panel id="trace" title="Trace" class={look}>
        <Unread documents={[read]} />
      </Panel>
    );
  }
  const rows = traceRows(trace);
  const note = joined([
    rows.length === 0 && "No steps yet.",
    !trace.isWhole && "From the run's last log lines only.",
  ]);
  return (
    <Panel
      id="trace"
      title="Trace"
      class={look}
      after={<span class="muted">{note || durationText(traceMs(trace))}</span>}
    >
      <div
        class="trace-box"
        tabIndex={0}
        role="group"
        aria-label="Steps"
        hidden={rows.length === 0}
      >
        <table class="trace">
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">
                <span class="visually-hidden">When</span>
              </th>
              <th scope="col">Time</th>
              <th scope="col">Tokens</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Step {...row} key={row.key} agent={agent} instanceId={instanceId} onOpen={onOpen} />
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

type StepProps = TraceRow & Pick<TraceProps, "agent" | "instanceId" | "onOpen">;

function Step(step: StepProps) {
  const { kind, name, isInner, bar, time, tokens, cost, failure } = step;
  const look = [
    kind === null ? "" : `step-${kind}`,
    isInner && "inner",
    failure !== null && "failed",
  ];
  const text = failure === null ? name : `${name}: ${failure}`;
  return (
    <tr class={joined(look, " ")}>
      <th scope="row" title={text}>
        <StepName {...step} text={text} />
      </th>
      <td>
        {bar !== null && (
          <svg class="trace-bar" aria-hidden="true">
            <rect
              x={percent(Math.min(bar.from, 1 - leastShare))}
              width={percent(Math.max(bar.share, leastShare))}
              height="100%"
            />
          </svg>
        )}
      </td>
      <td>{time}</td>
      <td>{tokens}</td>
      <td>{cost}</td>
    </tr>
  );
}

/** The name of a step, which leads to its line in the log. */
function StepName({ text, position, agent, instanceId, onOpen }: StepProps & { text: string }) {
  if (position === null) return <>{text}</>;
  return (
    <a
      href={lineAddress(agent, position, instanceId)}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        onOpen(position);
      }}
    >
      {text}
    </a>
  );
}
