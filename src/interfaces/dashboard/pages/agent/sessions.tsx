import { counted } from "../../../../foundation/contracts/format.ts";
import type { AgentAnswer } from "../../../../foundation/contracts/operator-api.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import type { SessionsAnswer } from "../../../../features/sessions/operations.ts";
import { useDocument } from "../../live/use-document.ts";
import { agentApi } from "../../text/addresses.ts";
import { Items, Panel } from "../../kit/panel.tsx";
import { ListTime } from "../../kit/time.tsx";
import { RunLink } from "../../runs/run-parts.tsx";

const most = 20;

interface SessionsProps {
  readonly agent: string;
  readonly detail: AgentAnswer | null;
}

/** The kept sessions of an agent by their keys, with links to their last runs. */
export function Sessions({ agent, detail }: SessionsProps) {
  return detail?.config?.session ? <Kept agent={agent} /> : null;
}

function Kept({ agent }: { readonly agent: string }) {
  const first = { value: null, changedBy: ["triggers"], agent, isQuiet: true } as const;
  const { value } = useDocument<SessionsAnswer>(() => `${agentApi(agent)}/sessions`, first);
  const sessions = value?.sessions ?? [];
  const note = sessions.length > most ? `and ${sessions.length - most} more` : "";
  return (
    <Panel id="sessions" title="Sessions">
      <Items id="sessions" items={sessions} most={most} note={note}>
        {({ key, instanceId, live, runs, at }) => (
          <li key={key}>
            <RunLink agent={agent} instanceId={live ?? instanceId} text={plainText(key)} />
            <div class="sub">
              {`${counted(runs, "run")} · `}
              <ListTime at={at} />
            </div>
          </li>
        )}
      </Items>
    </Panel>
  );
}
