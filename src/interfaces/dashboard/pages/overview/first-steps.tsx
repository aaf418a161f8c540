import type { ComponentChildren } from "preact";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { Copied } from "../../kit/copied.tsx";
import { agentAddress } from "../../text/addresses.ts";

interface FirstStepsProps {
  /** The only agent; null without one. */
  readonly agent: AgentStatus | null;
  readonly hasWebhooks: boolean;
}

/** What to do in a new project, with a command for each step, until an agent has run and has a model or a webhook. */
export function FirstSteps({ agent, hasWebhooks }: FirstStepsProps) {
  const hasRun = agent !== null && agent.lastRunAt !== null;
  const hasModel = agent?.models.some((model) => model !== "scripted") ?? false;
  return (
    <section class="panel" id="empty" hidden={hasRun && (hasModel || hasWebhooks)}>
      <h2>{agent === null ? "No agents yet" : "First steps"}</h2>
      <ol class="steps">
        {agent === null ? (
          <Step name="Create an agent" command="al agent new">
            It writes <code>agents/&lt;name&gt;/</code> with a <code>SKILL.md</code> (its
            instructions) and a <code>config.toml</code> (when it runs, and with which model).
          </Step>
        ) : (
          <Step name={`Run ${agent.name}`} command={`al run ${agent.name}`} isDone={hasRun}>
            Or press Run in its row. Its log shows each step.
          </Step>
        )}
        <Step name="Connect a model" command="al creds add anthropic_key" isDone={hasModel}>
          {agent === null ? (
            "Then name the model in the agent’s config.toml."
          ) : (
            <>
              Then name the model in{" "}
              <a href={`${agentAddress(agent.name)}?tab=config`}>the agent’s config.toml</a>.
            </>
          )}
        </Step>
        <Step name="Add a webhook" command="al webhook setup github" isDone={hasWebhooks}>
          Events of your repositories then start the agent.
        </Step>
      </ol>
    </section>
  );
}

interface StepProps {
  readonly name: string;
  readonly command: string;
  readonly isDone?: boolean;
  readonly children: ComponentChildren;
}

function Step({ name, command, isDone = false, children }: StepProps) {
  return (
    <li class={isDone ? "done" : ""}>
      <strong>{name}</strong>
      {isDone && <span class="outcome good"> done ✓</span>}
      <p class="muted">{children}</p>
      <Copied text={command} />
    </li>
  );
}
