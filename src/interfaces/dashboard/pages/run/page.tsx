import { outcomeText, isError } from "../../../../../streams/outcomes.ts";
import { useMemo } from "preact/hooks";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import type { ReceiptView } from "../../../../foundation/contracts/operator-api.ts";
import type { RunDifference, RunView } from "../../../../runtime/runs/run-view.ts";
import { useAgent } from "../../live/agents.ts";
import type { FirstPart } from "../../log/log-session.ts";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import { Panel, Failed } from "../../kit/panel.tsx";
import { QuestionList } from "../../runs/question.tsx";
import { useRunAgain } from "./run-again.tsx";
import { Steer } from "./steer.tsx";
import { Called, Facts, Hosts, Result, Since, Trigger } from "./panels.tsx";
import { FailingSince, KillRun } from "../../runs/run-parts.tsx";
import { frameStyles, Notice, Site, type Frame } from "../../kit/site.tsx";
import { Duration } from "../../kit/time.tsx";
import type { LivePage } from "../../send-page.tsx";
import {
  agentAddress,
  firstSeenAddress,
  logAddress,
  lineAddress,
  pathOf,
} from "../../text/addresses.ts";
import { actsText } from "../../runs/question-words.ts";
import { runningSince, stateOf, whyText, lookOf } from "../../runs/trigger-words.ts";
import { useFollow, useLog } from "../../log/use-log.ts";
import type { LogChoice } from "../../kit/list-view.ts";
import { LogLines } from "../../log/log-lines.tsx";

interface RunData {
  readonly frame: Frame;
  readonly run: RunView;
  /** The changes after which it is read again. */
  readonly changedBy: FirstDocument<RunView>["changedBy"];
  /** The run's agent as it is now; null if it was removed. */
  readonly status: AgentStatus | null;
  /** The run's last lines; null if finding them takes longer. */
  readonly lines: FirstPart | null;
  /** The run's delivery; null without one, or if it is large. */
  readonly receipt: ReceiptView | null;
  /** Changes since the last success; null unless the run failed. */
  readonly changes: RunDifference | null;
}

/** Everything about one run: its trigger, its result, its use of models and hosts, its log. */
export const page: LivePage<RunData> = {
  name: "run",
  title: ({ run }) => run.instanceId,
  styles: [...frameStyles, "calls", "agent", "changes", "markdown", "log-row", "run", "questions"],
  view: Run,
};

function Run({ frame, run: first, changedBy, lines, receipt, changes, ...data }: RunData) {
  const { agent, instanceId } = first;
  const status = useAgent(agent, data.status);
  const read = useDocument<RunView>(() => pathOf`/api/runs/${instanceId}`, {
    value: first,
    changedBy,
    agent,
    isOpen,
    isQuiet: true,
  });
  const run = read.value ?? first;
  const again = useRunAgain(run, status);
  const state = stateOf(run);
  const hasFailed = run.outcome !== null && isError(run.outcome);
  // Also one that could not start.
  const look = hasFailed ? "error" : lookOf(run);
  const isRunning = runningSince(run) !== null;
  const isAsking = isRunning && run.questions.some((question) => question.state === "open");
  return (
    <Site
      frame={frame}
      title={instanceId}
      head={
        <>
          <span class={`pill ${isAsking ? "waiting" : look}`} id="state">
            {isAsking ? "waiting: person" : outcomeText(state)}
          </span>
          <span class="muted" id="standing">
            <Duration ms={run.durationMs} since={runningSince(run)} otherwise="" />
          </span>
          <div class="end" role="group" aria-label="Actions">
            <KillRun {...run} isOfPage />
            <a class="button" href={logAddress(agent, instanceId)}>
              Whole log
            </a>
            {again.button}
          </div>
        </>
      }
      current="agents"
      isBelow
    >
      <p class="run-of muted">
        Run of <a href={agentAddress(agent)}>{agent}</a>
        {hasFailed && run.reason !== null && (
          <span id="first-seen">
            {" "}
            · <a href={firstSeenAddress(run.reason)}>When did this error first appear?</a>
          </span>
        )}
        {run.acts.length > 0 && (
          <span id="acts">
            {" "}
            · <a href={pathOf`/dashboard/audit?instance=${instanceId}`}>{actsText(run.acts)}</a>
          </span>
        )}
      </p>
      <FailingSince agent={agent} failing={run.failing} />
      <Notice kind={hasFailed ? "error" : "warning"} id="reason" text={plainText(whyText(run))} />
      <Notice kind="warning" id="gone" text={read.status === 404 ? goneText : null} />
      {again.notice}
      <Panel id="questions" title="Questions to people" hidden={run.questions.length === 0}>
        <QuestionList id="question-list" questions={run.questions} refresh={read.refresh} isOfRun />
      </Panel>
      <Steer run={run} onSent={read.refresh} />
      <Result run={run} />
      <Since run={run} first={changes} />
      <Facts run={run} />
      <Trigger run={run} receipt={receipt} />
      <Called run={run} />
      <Hosts hosts={run.hosts} />
      <RunLog agent={agent} instanceId={instanceId} isOver={run.outcome !== null} first={lines} />
      {again.dialog}
    </Site>
  );
}

const goneText = "This run is no longer in the history.";

/** Whether anything about a run can still change. */
function isOpen({ outcome, calls }: RunView): boolean {
  return outcome === null || calls.made.some((call) => call.outcome === null);
}

interface RunLogProps {
  readonly agent: string;
  readonly instanceId: string;
  /** Whether the run has ended. */
  readonly isOver: boolean;
  /** The run's last lines; null if finding them takes longer. */
  readonly first: FirstPart | null;
}

/** The last lines; the log page has all. */
export const shownLines = 200;

/** The part of a log that a run's page shows. */
export function runChoice(instance: string): LogChoice {
  return { instance, q: "", level: "", at: "" };
}

/** The last lines of a run's log, and new ones while it runs. */
export function RunLog({ agent, instanceId, isOver, first }: RunLogProps) {
  const choice = useMemo(() => runChoice(instanceId), []);
  const links = useMemo(
    () => ({
      run: (id: string) => logAddress(agent, id),
      line: (position: string) => lineAddress(agent, position, instanceId),
    }),
    [],
  );
  const log = useLog(agent, choice, { first, pageLines: shownLines });
  const { lines, isReading, failure } = log;
  const { box, onScroll } = useFollow();
  const none = isOver
    ? "No lines: it logged nothing, or its log is no longer kept."
    : "No lines yet.";
  return (
    <Panel
      id="log-part"
      title="Log"
      class="run-log-panel"
      after={
        <span class="muted" id="log-note">
          {lines.length >= shownLines && `From the last ${shownLines} lines on.`}
        </span>
      }
    >
      <Failed failure={failure} retry={log.retry} />
      <p class="muted" id="log-empty" role="status" hidden={lines.length > 0 || failure !== ""}>
        {isReading ? "Reading the log …" : none}
      </p>
      <div
        id="log"
        class="run-lines"
        role="log"
        aria-live="off"
        aria-label={`Log of ${instanceId}`}
        tabIndex={0}
        hidden={lines.length === 0}
        ref={box}
        onScroll={onScroll}
      >
        <LogLines lines={lines} links={links} isRaw={false} sought="" marked="" />
      </div>
    </Panel>
  );
}
