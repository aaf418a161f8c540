import { useState } from "preact/hooks";
import { attemptsText, topicWords } from "../../../../features/alerts/alert-words.ts";
import type {
  AlertDeliveryView,
  AlertsRetried,
  AlertTargetView,
  AlertTested,
  OpenAlertView,
} from "../../../../features/alerts/alerts-report.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import { Action } from "../../kit/action.tsx";
import { Select } from "../../kit/fields.tsx";
import { Fold, type Column } from "../../kit/table.tsx";
import { ListTime, Time } from "../../kit/time.tsx";
import { post } from "../../live/api.ts";
import { showToast } from "../../live/toasts.ts";
import { AgentLink, RunLink } from "../../runs/run-parts.tsx";
import { agentAddress, pathOf } from "../../text/addresses.ts";

interface Acting {
  /** Announces an action of the reader, and reads the report again. */
  readonly done: (words: string) => void;
}

const hourMs = 3_600_000;
const snoozes = { 1: "1 hour", 8: "8 hours", 24: "1 day", 168: "1 week" };

/** Open alerts. */
export const openColumns: readonly Column<OpenAlertView & Acting>[] = [
  ["What", ({ topic }) => topicWords[topic], "what"],
  ["Agent", ({ agent }) => <AgentLink agent={agent} otherwise="project" />],
  ["Since", ({ since }) => <ListTime at={since} />],
  ["Count", ({ count }) => (count > 1 ? `${count} times` : ""), "number"],
  ["Why", Why, "why"],
  ["(Action)", OpenActions, "act"],
];

function Why({ reason, ack }: OpenAlertView) {
  return (
    <>
      {reason}
      {ack !== null && (
        <div class="sub">
          {ack.until === null ? "acknowledged" : "snoozed"} by {ack.by}{" "}
          {ack.until === null ? (
            <ListTime at={ack.at} />
          ) : (
            <>
              until <ListTime at={ack.until} />
            </>
          )}
        </div>
      )}
    </>
  );
}

function OpenActions({ agent, topic, ack, done }: OpenAlertView & Acting) {
  const what = `${topicWords[topic]} of ${agent ?? "the project"}`;
  const send = async (more: object, words: string): Promise<void> => {
    const answer = await post("/api/alerts/ack", { agent, topic, ...more });
    if (answer !== null) done(`${what}: ${words}`);
  };
  const snooze = (hours: string): Promise<void> =>
    send({ until: new Date(Date.now() + Number(hours) * hourMs).toISOString() }, "snoozed");
  if (ack !== null) {
    const remind = () => send({ undo: true }, "reminders again");
    return (
      <Action act={remind} label={`Remind again: ${what}`}>
        Remind again
      </Action>
    );
  }
  return (
    <>
      <Action act={() => send({}, "acknowledged")} label={`Acknowledge: ${what}`}>
        Acknowledge
      </Action>{" "}
      <Select
        label={`Snooze: ${what}`}
        isBare
        any="Snooze …"
        values={Object.keys(snoozes)}
        words={snoozes}
        onChange={(hours) => void snooze(hours)}
      />
    </>
  );
}

const targetPills = { ok: "good", failing: "held", off: "error" } as const;
/** How long a button shows that its test was accepted. */
const acceptedMs = 4_000;

/** The targets of alerts. */
export const targetColumns: readonly Column<AlertTargetView & Acting>[] = [
  [
    "Target",
    ({ name, type }) => (
      <>
        {name}
        <div class="sub">{type}</div>
      </>
    ),
    "what",
  ],
  ["State", ({ state }) => <span class={`pill ${targetPills[state]}`}>{state}</span>],
  ["Waiting", ({ waiting }) => <span data-label="Waiting">{waiting}</span>, "number"],
  [
    "Dead",
    ({ dead }) => (
      <span data-label="Dead" class={dead > 0 ? "danger" : ""}>
        {dead}
      </span>
    ),
    "number",
  ],
  ["Last error", ({ lastError }) => lastError, "why"],
  ["(Action)", Test, "act"],
];

function Test({ name, done }: AlertTargetView & Acting) {
  const [isAccepted, setAccepted] = useState(false);
  const test = async (): Promise<void> => {
    const answer = await post<AlertTested>(pathOf`/api/alerts/targets/${name}/test`);
    if (answer === null) return;
    if (!answer.accepted) showToast(`${name} did not accept the test: ${answer.error ?? ""}`);
    setAccepted(answer.accepted);
    setTimeout(() => setAccepted(false), acceptedMs);
    done(`${name} ${answer.accepted ? "accepted" : "did not accept"} the test`);
  };
  return (
    <Action act={test} label={`Send a test to ${name}`}>
      {isAccepted ? "Accepted ✓" : "Send a test"}
    </Action>
  );
}

const deliveryPills = { sent: "good", waiting: "held", dead: "error" } as const;

/** An alert by its newest delivery, with its way to each target. */
export interface SentAlert extends AlertDeliveryView, Acting {
  readonly ways: readonly AlertDeliveryView[];
}

/** Alerts that were sent, or wait. */
export const deliveryColumns: readonly Column<SentAlert>[] = [
  ["Time", ListTime],
  [
    "Alert",
    ({ agent, instanceId, title, reason, alerts }) => (
      <>
        <div class="what">
          <Title title={title} agent={agent} />{" "}
          <RunLink agent={agent} instanceId={instanceId} text="run" />
        </div>
        <div class="sub">{reason}</div>
        {alerts !== undefined && (
          <Fold class="sub" summary="Show the alerts">
            <ul class="claims">
              {alerts.map((alert, index) => (
                <li key={index}>{alert}</li>
              ))}
            </ul>
          </Fold>
        )}
      </>
    ),
    "alert",
  ],
  [
    "Deliveries",
    ({ ways, done }) => (
      <ul class="ways">
        {ways.map((delivery) => (
          <Way {...delivery} done={done} key={delivery.id} />
        ))}
      </ul>
    ),
  ],
];

/** The title of an alert; the name of its agent is a link. */
function Title({ title, agent }: { readonly title: string; readonly agent: string | null }) {
  const from = agent === null ? -1 : title.indexOf(agent);
  if (agent === null || from === -1) return <>{title}</>;
  return (
    <>
      {title.slice(0, from)}
      <a href={agentAddress(agent)}>{agent}</a>
      {title.slice(from + agent.length)}
    </>
  );
}

function Way({ done, ...delivery }: AlertDeliveryView & Acting) {
  const { id, title, target, state, attempts, nextAt, lastError } = delivery;
  const retry = async (): Promise<void> => {
    const answer = await post(pathOf`/api/alerts/${id}/retry`);
    if (answer !== null) done(`${title} is sent to ${target} again`);
  };
  return (
    <li class={state === "sent" ? "" : "open-way"}>
      {target} <span class={`pill ${deliveryPills[state]}`}>{state}</span>{" "}
      <span class="sub">
        {attemptsText(delivery)}
        {nextAt !== null && (
          <>
            {attempts === 0 ? "due " : " "}
            <Time at={nextAt} side="future" />
          </>
        )}
      </span>{" "}
      <Action
        class="link acts"
        act={retry}
        label={`Retry ${title} to ${target}`}
        hidden={state === "sent" || (state === "waiting" && attempts === 0)}
      >
        Retry
      </Action>
      {state !== "sent" && lastError !== null && <div class="sub">{lastError}</div>}
    </li>
  );
}

/** The button that sends all dead alerts again. */
export function RetryAll({ dead, done }: Acting & { readonly dead: number }) {
  const retry = async (): Promise<void> => {
    const answer = await post<AlertsRetried>("/api/alerts/retry");
    if (answer !== null) done(`${counted(answer.retried, "dead alert")} sent again`);
  };
  const words = dead === 1 ? "Retry the dead one" : `Retry all ${dead.toLocaleString("en")} dead`;
  return (
    <Action
      class="button acts end"
      id="retry-all"
      hidden={dead === 0}
      act={retry}
      label={words}
      question="Send them again?"
    >
      {words}
    </Action>
  );
}
