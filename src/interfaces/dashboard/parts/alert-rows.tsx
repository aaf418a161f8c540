/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { attemptsText, topicWords } from "../../../features/alerts/alert-words.ts";
import type {
  AlertDeliveryView,
  AlertsRetried,
  AlertTargetView,
  AlertTested,
  OpenAlertView,
} from "../../../features/alerts/alerts-report.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { post } from "../live/api.ts";
import { showToast } from "../live/toasts.ts";
import { Action } from "./action.tsx";
import { AgentLink, RunLink } from "./run-parts.tsx";
import { Time } from "./time.tsx";

/** Announces an action of the reader, and reads the report again. */
export type Done = (words: string) => void;

/** The row of an open alert. */
export function OpenRow({ agent, topic, since, count, reason }: OpenAlertView) {
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
      <td class="why">{reason}</td>
    </tr>
  );
}

const targetPills = { ok: "good", failing: "held", off: "error" } as const;

export function TargetRow({
  target,
  done,
}: {
  readonly target: AlertTargetView;
  readonly done: Done;
}) {
  const { name, type, state, waiting, dead, lastError } = target;
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
        <TestButton name={name} done={done} />
      </td>
    </tr>
  );
}

/** How long a button shows that its test was accepted. */
const acceptedMs = 4_000;

function TestButton({ name, done }: { readonly name: string; readonly done: Done }) {
  const [isAccepted, setAccepted] = useState(false);
  const send = async (): Promise<void> => {
    const answer = await post<AlertTested>(`/api/alerts/targets/${encodeURIComponent(name)}/test`);
    if (answer === null) return;
    if (!answer.accepted) showToast(`${name} did not accept the test: ${answer.error ?? ""}`);
    setAccepted(answer.accepted);
    setTimeout(() => setAccepted(false), acceptedMs);
    done(answer.accepted ? `${name} accepted the test` : `${name} did not accept the test`);
  };
  return (
    <Action act={send} label={`Send a test to ${name}`}>
      {isAccepted ? "Accepted ✓" : "Send a test"}
    </Action>
  );
}

const deliveryPills = { sent: "good", waiting: "held", dead: "error" } as const;

interface DeliveryRowProps {
  readonly delivery: AlertDeliveryView;
  readonly done: Done;
}

export function DeliveryRow({ delivery, done }: DeliveryRowProps) {
  const { id, at, title, agent, instanceId, reason, target, state, attempts, nextAt } = delivery;
  const retry = async (): Promise<void> => {
    const answer = await post(`/api/alerts/${encodeURIComponent(id)}/retry`);
    if (answer !== null) done(`${title} is sent to ${target} again`);
  };
  return (
    <tr>
      <td>
        <Time at={at} />
      </td>
      <td class="alert">
        <div class="what">
          {title}{" "}
          {agent !== null && instanceId !== null && (
            <RunLink agent={agent} instanceId={instanceId} text="run" />
          )}
        </div>
        <div class="sub">{reason}</div>
      </td>
      <td>{target}</td>
      <td class="state">
        <span class={`pill ${deliveryPills[state]}`}>{state}</span>
        <div class="sub">
          <span>{attemptsText(delivery)}</span>{" "}
          {nextAt !== null && <Time at={nextAt} side="future" />}
        </div>
      </td>
      <td class="why">{state === "sent" ? "" : delivery.lastError}</td>
      <td class="act">
        <Action
          class="link acts"
          act={retry}
          label={`Retry ${title} to ${target}`}
          hidden={state === "sent" || (state === "waiting" && attempts === 0)}
        >
          Retry
        </Action>
      </td>
    </tr>
  );
}

/** The button that sends all dead alerts again. */
export function RetryAll({ dead, done }: { readonly dead: number; readonly done: Done }) {
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
