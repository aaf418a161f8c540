import { useState } from "preact/hooks";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { inboxLimits, personText } from "../../../../foundation/contracts/questions.ts";
import type { InboxView, RunView } from "../../../../runtime/runs/run-view.ts";
import { post } from "../../live/api.ts";
import { showToast } from "../../live/toasts.ts";
import { runAddress, pathOf } from "../../text/addresses.ts";
import { exactTime } from "../../text/format.ts";
import { Action } from "../../kit/action.tsx";
import { Panel } from "../../kit/panel.tsx";
import { RunLink } from "../../runs/run-parts.tsx";

interface SteerProps {
  readonly run: RunView;
  /** Called after a message was sent. */
  readonly onSent: () => void;
  readonly class: string;
}

/** The messages of people to a run, and a box for one more: while it works, or for a run that continues its session. */
export function Steer({ run, onSent, class: look }: SteerProps) {
  const { messages, outcome, continues } = run;
  const isLive = run.startedAt !== null && outcome === null;
  const refusal = (isLive ? run.noInput?.steer : null) ?? null;
  const hasBox = isLive ? refusal === null : run.isKept;
  const isEmpty = messages.length === 0 && continues === null && refusal === null;
  return (
    <Panel
      id="people"
      title="Messages"
      isTitleHidden={isEmpty}
      class={look}
      hidden={isEmpty && !hasBox}
    >
      {continues !== null && (
        <p id="continues">
          Continues the session of <RunLink agent={run.agent} instanceId={continues} />
        </p>
      )}
      <ul class="claims" id="messages">
        {messages.map((message) => (
          <Message key={message.seq} message={message} run={run} />
        ))}
      </ul>
      {refusal !== null && <p class="muted note">{`It accepts no messages: ${refusal}.`}</p>}
      {hasBox && <Box key={String(isLive)} run={run} isLive={isLive} onSent={onSent} />}
    </Panel>
  );
}

function Message({ message, run }: { readonly message: InboxView; readonly run: RunView }) {
  const { kind, text, by, at, receivedAt, continuedBy } = message;
  const unread = run.outcome === null ? "not received yet" : "never received: the run had ended";
  const state = receivedAt === null ? unread : "received";
  return (
    <li>
      {kind === "stop" ? "Stop after this turn" : plainText(text)}
      <div class="sub">
        {personText(by)}, {exactTime(at)}
        {kind !== "continue" && ` · ${state}`}
        {kind === "continue" && continuedBy === null && " · to be continued"}
        {continuedBy !== null && " · continued by "}
        <RunLink agent={run.agent} instanceId={continuedBy} />
      </div>
    </li>
  );
}

interface BoxProps extends Omit<SteerProps, "class"> {
  readonly isLive: boolean;
}

/** One line that opens when a person writes. */
function Box({ run, isLive, onSent }: BoxProps) {
  const [text, setText] = useState("");
  const path = pathOf`/api/runs/${run.instanceId}`;
  const label = isLive ? "Tell the agent …" : "Continue its session …";
  const send = async (body: object, operation: "steer" | "continue"): Promise<void> => {
    const sent = await post<{ readonly instanceId?: string | null }>(`${path}/${operation}`, body);
    if (sent === null) return;
    setText("");
    onSent();
    const { instanceId = null } = sent;
    if (instanceId !== null) location.assign(runAddress(run.agent, instanceId));
    else if (operation === "continue") showToast("It is queued.");
  };
  const given = text.trim();
  const submit = (): Promise<void> =>
    isLive ? send({ text: given }, "steer") : send({ prompt: given }, "continue");
  return (
    <form class="steer" id="steer" onSubmit={(event) => event.preventDefault()}>
      <textarea
        id="steer-text"
        aria-label={label}
        placeholder={label}
        rows={1}
        maxLength={inboxLimits.text}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div class="end">
        {isLive && (run.noInput?.stop ?? null) === null && (
          <Action act={() => send({ stop: true }, "steer")} id="stop-after">
            Stop after this turn
          </Action>
        )}
        <Action
          act={submit}
          id="send"
          class="button acts primary"
          whyNot={given === "" ? "Write a text first" : null}
        >
          {isLive ? "Send" : "Continue"}
        </Action>
      </div>
    </form>
  );
}
