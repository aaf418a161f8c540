import { outcomeText, isError } from "../../../../../streams/outcomes.ts";
import { useState } from "preact/hooks";
import type { ArtifactsView } from "../../../../features/artifacts/artifact-report.ts";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import type { ReceiptView } from "../../../../foundation/contracts/operator-api.ts";
import type { RunDifference, RunView } from "../../../../runtime/runs/run-view.ts";
import type { TraceView } from "../../../../runtime/runs/trace-view.ts";
import { useAgent } from "../../live/agents.ts";
import type { FirstPart } from "../../log/log-session.ts";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import { Panel } from "../../kit/panel.tsx";
import { QuestionList } from "../../runs/question.tsx";
import { useRunAgain } from "./run-again.tsx";
import { Files } from "./files.tsx";
import { RunLog, useRunLog } from "./run-log.tsx";
import { Steer } from "./steer.tsx";
import { Trace } from "./trace.tsx";
import { Strip } from "./strip.tsx";
import { Called, Facts, Hosts, Result, Since, Thread, Trigger } from "./panels.tsx";
import { Remembered } from "./remembered.tsx";
import { KillRun } from "../../runs/run-parts.tsx";
import { frameStyles, Notice, Site, type Frame } from "../../kit/site.tsx";
import type { LivePage } from "../../send-page.tsx";
import { firstSeenAddress, lineAddress, logAddress, pathOf } from "../../text/addresses.ts";
import { actsText } from "../../runs/question-words.ts";
import { runningSince, stateOf, whyText, lookOf } from "../../runs/trigger-words.ts";

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
  readonly trace: FirstDocument<TraceView>;
  readonly files: FirstDocument<ArtifactsView>;
  /** The position of the line at which its log opens; "" for the last lines. */
  readonly opened: string;
}

/** Everything about one run: what came of it, why, its log, and what it left. */
export const page: LivePage<RunData> = {
  name: "run",
  title: ({ run }) => run.instanceId,
  styles: [
    ...frameStyles,
    "calls",
    "columns",
    "changes",
    "markdown",
    "log-row",
    "run",
    "questions",
  ],
  view: Run,
};

/** The parts of the page, of which a phone shows one. */
const parts = { log: "Log", trace: "Trace", result: "Result", details: "Details" };
type Part = keyof typeof parts;

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
  const hasFailed = run.outcome !== null && isError(run.outcome);
  const isAsking = runningSince(run) !== null && run.questions.some(isOpenQuestion);
  return (
    <Site
      frame={frame}
      title={instanceId}
      head={
        <div class="end" role="group" aria-label="Actions">
          <KillRun {...run} isOfPage />
          <a class="button" href={logAddress(agent, instanceId)}>
            Whole log
          </a>
          {again.button}
        </div>
      }
      current="agents"
      isBelow
    >
      <Strip
        run={run}
        agent={status}
        // Also one that could not start.
        look={isAsking ? "waiting" : hasFailed ? "error" : lookOf(run)}
        state={isAsking ? "waiting: person" : outcomeText(stateOf(run))}
      />
      <Notice kind="warning" id="gone" text={read.status === 404 ? goneText : null} />
      {again.notice}
      <Reason run={run} hasFailed={hasFailed} trace={data.trace.value} />
      <Parts
        {...data}
        run={run}
        isAsking={isAsking}
        changes={changes}
        receipt={receipt}
        lines={lines}
        refresh={read.refresh}
      />
      {again.dialog}
    </Site>
  );
}

const goneText = "This run is no longer in the history.";

/** Whether anything about a run can still change. */
function isOpen({ outcome, calls }: RunView): boolean {
  return outcome === null || calls.made.some((call) => call.outcome === null);
}

function isOpenQuestion({ state }: RunView["questions"][number]): boolean {
  return state === "open";
}

interface ReasonProps {
  readonly run: RunView;
  readonly hasFailed: boolean;
  readonly trace: TraceView | null;
}

/** Why the run ended as it did, and below it where to look. */
function Reason({ run, hasFailed, trace }: ReasonProps) {
  const why = plainText(whyText(run));
  const { agent, acts, reason, instanceId } = run;
  const step = trace?.steps.findLast(({ failure }) => failure !== null);
  const links = [
    hasFailed && step?.position && (
      <span id="failed-step">
        Last failed step:{" "}
        <a href={lineAddress(agent, step.position, instanceId)}>{plainText(step.name)}</a>
      </span>
    ),
    hasFailed && reason !== null && (
      <a id="first-seen" href={firstSeenAddress(reason)}>
        When did this error first appear?
      </a>
    ),
    acts.length > 0 && (
      <a id="acts" href={pathOf`/dashboard/audit?instance=${instanceId}`}>
        {actsText(acts)}
      </a>
    ),
  ].filter(Boolean);
  return (
    <>
      <Notice kind={`why-run ${hasFailed ? "error" : "warning"}`} id="reason" text={why} />
      <p class="run-of muted" hidden={links.length === 0}>
        {links.map((link, index) => [index > 0 && " · ", link])}
      </p>
    </>
  );
}

interface PartsProps extends Pick<
  RunData,
  "run" | "lines" | "opened" | "trace" | "files" | "changes" | "receipt"
> {
  /** Whether the run waits for a person. */
  readonly isAsking: boolean;
  readonly refresh: () => void;
}

/** The parts of the page: beside each other, or on a phone one of them. */
function Parts({ run, lines, opened, isAsking, refresh, ...data }: PartsProps) {
  const { agent, instanceId, outcome } = run;
  // A reader who watches the run end keeps the order in which it was opened.
  const [isGood] = useState(outcome === "succeeded");
  const [part, setPart] = useState<Part>(isGood ? "result" : "log");
  const lookOfPart = (name: Part) => ({ class: name === part ? "part" : "part other" });
  const log = useRunLog({ agent, instanceId, first: lines, opened });
  const openLine = (position: string): void => {
    setPart("log");
    log.open(position);
  };
  const traced = { agent, instanceId, received: log.received, onOpen: openLine };
  const result = <Result run={run} {...lookOfPart("result")} />;
  const files = (
    <Files
      first={data.files}
      agent={agent}
      instanceId={instanceId}
      isOver={outcome !== null}
      {...lookOfPart("result")}
    />
  );
  const trace = <Trace first={data.trace} {...traced} {...lookOfPart("trace")} />;
  const questions = <Questions run={run} refresh={refresh} />;
  return (
    <>
      <PartTabs current={part} onOpen={setPart} />
      <div class="columns run-columns">
        <div class="column">
          {isAsking && questions}
          {isGood && [result, files, trace]}
          <RunLog
            agent={agent}
            instanceId={instanceId}
            log={log}
            isOver={outcome !== null}
            {...lookOfPart("log")}
          />
          <Steer run={run} onSent={refresh} {...lookOfPart("log")} />
          {!isGood && [files, trace, result]}
        </div>
        <div class={`column ${lookOfPart("details").class}`}>
          <Since run={run} first={data.changes} />
          <Remembered run={run} />
          <Hosts hosts={run.hosts} />
          <Called run={run} />
          <Thread run={run} />
          {!isAsking && questions}
          <Trigger run={run} receipt={data.receipt} />
          <Facts run={run} />
        </div>
      </div>
    </>
  );
}

interface PartTabsProps {
  readonly current: Part;
  readonly onOpen: (part: Part) => void;
}

/** Leads to the parts where they don't stand beside each other. */
function PartTabs({ current, onOpen }: PartTabsProps) {
  return (
    <nav class="tabs run-tabs" aria-label="Parts of the run">
      {(Object.keys(parts) as Part[]).map((name) => (
        <button
          type="button"
          key={name}
          aria-current={name === current ? "true" : undefined}
          onClick={() => onOpen(name)}
        >
          {parts[name]}
        </button>
      ))}
    </nav>
  );
}

interface QuestionsProps {
  readonly run: RunView;
  readonly refresh: () => void;
}

function Questions({ run: { questions }, refresh }: QuestionsProps) {
  return (
    <Panel id="questions" title="Questions to people" hidden={questions.length === 0}>
      <QuestionList id="question-list" questions={questions} refresh={refresh} isOfRun />
    </Panel>
  );
}
