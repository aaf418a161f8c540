import { counted } from "../../../../foundation/contracts/format.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import type { SessionsAnswer } from "../../../../features/sessions/operations.ts";
import { useDocument } from "../../live/use-document.ts";
import { agentApi } from "../../text/addresses.ts";
import { Items, Panel } from "../../kit/panel.tsx";
import { ListTime } from "../../kit/time.tsx";
import { RunLink } from "../../runs/run-parts.tsx";

const maxShown = 20;

/** The kept sessions of an agent by their keys, with links to their threads. */
export function Sessions({ agent }: { readonly agent: string }) {
  const first = { value: null, changedBy: ["triggers"] } as const;
  const path = () => `${agentApi(agent)}/sessions`;
  const { value } = useDocument<SessionsAnswer>(path, { ...first, agent, isQuiet: true });
  const sessions = value?.sessions ?? [];
  const rest = sessions.length - maxShown;
  const note = rest > 0 ? `and ${rest} more: al session ls ${agent}` : "";
  return (
    <Panel id="sessions" title="Sessions">
      <Items
        id="sessions"
        items={sessions}
        most={maxShown}
        note={value && sessions.length === 0 ? "None is kept." : note}
      >
        {({ key, instanceId, live, runs, at }) => (
          <li key={key}>
            <RunLink agent={agent} instanceId={live ?? instanceId} text={plainText(key)} />
            <div class="sub">
              {`${counted(runs, "run")} · ${live === null ? "" : "live · "}`}
              <ListTime at={at} />
            </div>
          </li>
        )}
      </Items>
    </Panel>
  );
}
