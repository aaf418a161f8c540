import { useState } from "preact/hooks";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import type { WhyNot } from "../../../../features/webhooks/delivery-report.ts";
import { Action } from "../../kit/action.tsx";
import { Dialog, useDialog } from "../../kit/dialog.tsx";
import { refusalsOf } from "../../live/agent-requests.ts";
import { post } from "../../live/api.ts";
import { showToast } from "../../live/toasts.ts";
import { agentApi } from "../../text/addresses.ts";
import { dayTime, joined } from "../../text/format.ts";

interface Backfill {
  readonly slots: readonly (Record<"schedule" | "at", string> & { reason: string | null })[];
}

interface RunMissedProps {
  readonly agent: string;
  readonly status: AgentStatus | null;
  readonly why: WhyNot;
}

/** How many missed runs the dialog lists. */
const maxListed = 10;

/** The button that starts missed runs, and its dialog; hidden if none is known. */
export function RunMissed({ agent, status, why }: RunMissedProps) {
  const dialog = useDialog();
  const [found, setFound] = useState<Backfill["slots"]>([]);
  const since = firstMissed(why);
  const ask = (more: object): Promise<Backfill | null> =>
    post<Backfill>(`${agentApi(agent)}/backfill`, { since, ...more });
  const open = async (): Promise<void> => {
    const answer = await ask({ dryRun: true });
    if (answer === null) return;
    setFound(answer.slots);
    dialog.open();
  };
  const start = async (): Promise<void> => {
    const answer = await ask({ until: found.at(-1)?.at });
    if (answer !== null) showToast(`${counted(answer.slots.length, "missed run")} will start`);
  };
  if (since === null) return null;
  const left = found.length - maxListed;
  return (
    <>
      <Action id="run-missed" whyNot={refusalsOf(status).run} act={open}>
        Run missed runs …
      </Action>
      <Dialog
        id="missed-dialog"
        title={`Run missed runs of ${agent}`}
        {...dialog}
        {...(found.length > 0 && { confirm: `Start ${counted(found.length, "run")}` })}
        onConfirm={() => void start()}
      >
        <p>
          {found.length === 0
            ? "All of them were started."
            : "They start one after another, the oldest first."}
        </p>
        <ul>
          {found.slice(0, maxListed).map(({ schedule, at, reason }) => (
            <li key={`${at} ${schedule}`}>
              {joined([dayTime(at), schedule, reason && plainText(reason)], " · ")}
            </li>
          ))}
        </ul>
        <p class="muted" hidden={left <= 0}>
          {left} more
        </p>
      </Dialog>
    </>
  );
}

/** When the first run was due that is listed as missed; null without one. */
function firstMissed({ refused, spans }: WhyNot): string | null {
  const times = [
    ...refused.flatMap(({ scheduledFor }) => scheduledFor ?? []),
    ...spans.map(({ firstAt }) => firstAt),
  ];
  return times.sort()[0] ?? null;
}
