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
import { ListTime, Time } from "../../kit/time.tsx";
import { post } from "../../live/api.ts";
import { showToast } from "../../live/toasts.ts";
import { AgentLink, RunLink } from "../../runs/run-parts.tsx";
import { agentAddress } from "../../text/addresses.ts";

interface Acting {
  /** Announces an action of the reader, and reads the report again. */
  readonly done: (words: string) => void;
}

const hourMs = 3_600_000;
const snoozes = { 1: "1 hour", 8: "8 hours", 24: "1 day", 168: "1 week" };

/** The row of an open alert. */
export function OpenRow({ agent, topic, since, count, reason, ack, done }: OpenAlertView & Acting) {
  const what = `${topicWords[topic]} of ${agent ?? "the project"}`;
  const send = async (more: object, words: string): Promise<void> => {
    const answer = await post("/api/alerts/ack", { agent, topic, ...more });
    if (answer !== null) done(`${what}: ${words}`);
  };
  const snooze = (hours: string): Promise<void> =>
    send({ until: new Date(Date.now() + Number(hours) * hourMs).toISOString() }, "snoozed");
  return (
    <tr>
      <td class="what">{topicWords[topic]}</td>
      <td>
        <AgentLink agent={agent} otherwise="project" />
      </td>
      <td>
        <Time at={since} />
      </td>
      <td class="number">{count > 1 ? `${count} times` : ""}</td>
      <td class="why">
        {reason}
        {ack !== null && (
          <div class="sub">
            {ack.until === null ? "acknowledged" : "snoozed"} by {ack.by}{" "}
            {ack.until === null ? (
              <Time at={ack.at} />
            ) : (
              <>
                until <ListTime at={ack.until} />
              </>
            )}
          </div>
        )}
      </td>
      <td class="act">
        {ack === null ? (
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
        ) : (
          <Action
            act={() => send({ undo: true }, "reminders again")}
            label={`Remind again: ${what}`}
          >
            Remind again
          </Action>
        )}
      </td>
    </tr>
  );
}

const targetPills = { ok: "good", failing: "held", off: "error" } as const;
/** How long a button shows that its test was accepted. */
const acceptedMs = 4_000;

export function TargetRow(props: AlertTargetView & Acting) {
  const { name, type, state, waiting, dead, lastError, done } = props;
  const [isAccepted, setAccepted] = useState(false);
  const test = async (): Promise<void> => {
    const answer = await post<AlertTested>(`/api/alerts/targets/${encodeURIComponent(name)}/test`);
    if (answer === null) return;
    if (!answer.accepted) showToast(`${name} did not accept the test: ${answer.error ?? ""}`);
    setAccepted(answer.accepted);
    setTimeout(() => setAccepted(false), acceptedMs);
    done(`${name} ${answer.accepted ? "accepted" : "did not accept"} the test`);
  };
  return (
    <tr>
      <td class="what">
        {name}
        <div class="sub">{type}</div>
      </td>
      <td>
        <span class={`pill ${targetPills[state]}`}>{state}</span>
      </td>
      <td class="number" data-label="Waiting">
        {waiting}
      </td>
      <td class={dead > 0 ? "number danger" : "number"} data-label="Dead">
        {dead}
      </td>
      <td class="why">{lastError}</td>
      <td class="act">
        <Action act={test} label={`Send a test to ${name}`}>
          {isAccepted ? "Accepted ✓" : "Send a test"}
        </Action>
      </td>
    </tr>
  );
}

const deliveryPills = { sent: "good", waiting: "held", dead: "error" } as const;

interface AlertRowProps extends Acting {
  /** The deliveries of one alert. */
  readonly deliveries: readonly AlertDeliveryView[];
}

/** An alert, with its way to each target. */
export function AlertRow({ deliveries: [first, ...others], done }: AlertRowProps) {
  if (first === undefined) return null;
  const { at, title, agent, instanceId, reason } = first;
  return (
    <tr>
      <td>
        <Time at={at} />
      </td>
      <td class="alert">
        <div class="what">
          <Title title={title} agent={agent} />{" "}
          {agent !== null && instanceId !== null && (
            <RunLink agent={agent} instanceId={instanceId} text="run" />
          )}
        </div>
        <div class="sub">{reason}</div>
      </td>
      <td>
        <ul class="ways">
          {[first, ...others].map((delivery) => (
            <Way {...delivery} done={done} key={delivery.id} />
          ))}
        </ul>
      </td>
    </tr>
  );
}

/** The title of an alert; the name of its agent is a link. */
function Title({ title, agent }: Pick<AlertDeliveryView, "title" | "agent">) {
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
    const answer = await post(`/api/alerts/${encodeURIComponent(id)}/retry`);
    if (answer !== null) done(`${title} is sent to ${target} again`);
  };
  return (
    <li class={state === "sent" ? "" : "open-way"}>
      {target} <span class={`pill ${deliveryPills[state]}`}>{state}</span>{" "}
      <span class="sub">
        {attemptsText(delivery)} {nextAt !== null && <Time at={nextAt} side="future" />}{" "}
        {state !== "sent" && lastError}
      </span>{" "}
      <Action
        class="link acts"
        act={retry}
        label={`Retry ${title} to ${target}`}
        hidden={state === "sent" || (state === "waiting" && attempts === 0)}
      >
        Retry
      </Action>
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
