import { useEffect, useRef, useState } from "preact/hooks";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { refusalsOf, setEnabled, triggerRun } from "../../live/agent-requests.ts";
import { Action } from "../../kit/action.tsx";
import { Icon } from "../../kit/icon.tsx";
import {
  agentAddress,
  logAddress,
  questionsAddress,
  triggersAddress,
} from "../../text/addresses.ts";

const look = "icon-button acts";

/** The buttons at the end of an agent's row. */
export function RowActions({ agent }: { readonly agent: AgentStatus }) {
  const { name, enabled } = agent;
  const toggle = enabled ? "Disable" : "Enable";
  const refusals = refusalsOf(agent);
  return (
    <div class="actions-group">
      <Action
        class={look}
        label={`Run ${name}`}
        title="Run"
        whyNot={refusals.run}
        act={() => triggerRun(name)}
      >
        <Icon name="run" />
      </Action>
      <Action
        class={look}
        label={`${toggle} ${name}`}
        title={toggle}
        whyNot={refusals.toggle}
        act={() => setEnabled(name, !enabled)}
      >
        <Icon name={enabled ? "disable" : "enable"} />
      </Action>
      <More {...agent} />
    </div>
  );
}

/** Further places of an agent, in a list that Escape and a move of the focus close. */
function More({ name, blockedBy }: AgentStatus) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const onPress = ({ target }: Event): void => {
      if (!(target instanceof Node && box.current?.contains(target))) setOpen(false);
    };
    document.addEventListener("pointerdown", onPress);
    return () => document.removeEventListener("pointerdown", onPress);
  }, [isOpen]);
  const links: readonly (readonly [words: string, address: string])[] = [
    ["Log", logAddress(name)],
    ["Why it didn’t run", `${agentAddress(name)}?tab=why`],
    ["Triggers", triggersAddress(name)],
    ["Configuration", `${agentAddress(name)}?tab=config`],
    ...(blockedBy === "person" ? [["Questions", questionsAddress(name)] as const] : []),
  ];
  return (
    <div
      class="more"
      ref={box}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return;
        setOpen(false);
        button.current?.focus();
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !box.current?.contains(relatedTarget)) setOpen(false);
      }}
    >
      <button
        type="button"
        class={look}
        ref={button}
        aria-label={`More of ${name}`}
        title="More"
        aria-expanded={isOpen ? "true" : "false"}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
      </button>
      {isOpen && (
        <ul>
          {links.map(([words, address]) => (
            <li key={words}>
              <a href={address}>{words}</a>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
