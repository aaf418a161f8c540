import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import type {
  CreatedToken,
  TokensReport,
  TokenView,
} from "../../../../features/tokens/token-report.ts";
import { scopes, tokenLimits, type Scope } from "../../../../foundation/contracts/scopes.ts";
import { post } from "../../live/api.ts";
import { announce } from "../../live/toasts.ts";
import { useDocument } from "../../live/use-document.ts";
import { Action } from "../../kit/action.tsx";
import { Copied } from "../../kit/copied.tsx";
import { McpSetup } from "./mcp-setup.tsx";
import { listStyles, List } from "../../kit/list.tsx";
import type { Column } from "../../kit/table.tsx";
import { Panel } from "../../kit/panel.tsx";
import { Site, type Frame } from "../../kit/site.tsx";
import { ListTime, Time } from "../../kit/time.tsx";
import type { LivePage } from "../../send-page.tsx";
import { pathOf } from "../../text/addresses.ts";

interface TokensData {
  readonly frame: Frame;
  readonly report: TokensReport | null;
}

/** API tokens: their list, and the form of a new one. */
export const page: LivePage<TokensData> = {
  name: "tokens",
  title: () => "API tokens",
  styles: [...listStyles, "tokens"],
  view: Tokens,
};

const scopeWords: Readonly<Record<Scope, string>> = {
  read: "Read status, history, logs and costs",
  trigger: "Start work: trigger, replay, continue",
  control: "Steer, kill, pause, raise budgets, acknowledge alerts",
  answer: "Answer questions and approve",
};

function Tokens({ frame, report: first }: TokensData) {
  const read = useDocument<TokensReport>(() => "/api/tokens", { value: first });
  const [created, setCreated] = useState<CreatedToken | null>(null);
  const tokens = read.value?.tokens ?? [];
  const show = (token: CreatedToken): void => {
    setCreated(token);
    announce(`API token ${token.name} created`);
    read.refresh();
  };
  const remove = async (name: string): Promise<void> => {
    const removed = await post(pathOf`/api/tokens/${name}/remove`, {});
    if (removed === null) return;
    if (created?.name === name) setCreated(null);
    announce(`API token ${name} removed`);
    read.refresh();
  };
  return (
    <Site
      frame={frame}
      title="API tokens"
      head={
        <span class="muted">For programs, such as an MCP client: each with its own scopes</span>
      }
      documents={[read]}
      current="tokens"
    >
      {created !== null && (
        <div class="panel" id="created" role="status">
          <p>
            The token <strong>{created.name}</strong>. Copy it now: it is not stored, and not shown
            again.
          </p>
          <Copied text={created.token} label={`API token ${created.name}`} />
        </div>
      )}
      <List
        id="tokens"
        columns={columns}
        rows={tokens.map((token) => ({ ...token, remove }))}
        keyOf={({ name }) => name}
        none={
          read.value && (
            <>
              <p>No API token yet. Create one below, or in a shell:</p>
              <Copied text="al token new ci --scope read" label="Command" />
            </>
          )
        }
      />
      <Panel id="new" title="New token">
        <NewToken agentNames={frame.agentNames} onCreated={show} />
      </Panel>
      <Panel id="mcp" title="MCP: Claude, Cursor, VS Code and Codex">
        <McpSetup gatewayUrl={frame.scheduler.gatewayUrl ?? "http://localhost:8080"} />
      </Panel>
    </Site>
  );
}

interface TokenRow extends TokenView {
  readonly remove: (name: string) => Promise<void>;
}

const columns: readonly Column<TokenRow>[] = [
  ["Token", ({ name }) => name, "name"],
  ["Scopes", ({ scopes }) => scopes.join(", ")],
  ["Agents", ({ agents }) => agents?.join(", ") ?? "all agents", "agents"],
  ["Last used", ({ lastUsedAt: at }) => (at === null ? "never used" : <ListTime at={at} />)],
  [
    "Expires",
    ({ expired, expiresAt }) =>
      expired ? (
        <span class="outcome failed">expired</span>
      ) : (
        <>
          expires <Time at={expiresAt} side="future" />
        </>
      ),
  ],
  [
    "(Remove)",
    ({ name, remove }) => (
      <form
        method="post"
        action={pathOf`/dashboard/tokens/${name}/remove`}
        onSubmit={(event) => event.preventDefault()}
      >
        <Action
          isSubmit
          label={`Remove the token ${name}`}
          question="Really remove?"
          act={() => remove(name)}
        >
          Remove
        </Action>
      </form>
    ),
    "end",
  ],
];

interface NewTokenProps {
  readonly agentNames: readonly string[];
  readonly onCreated: (token: CreatedToken) => void;
}

/** The form posts without script, too. */
function NewToken({ agentNames, onCreated }: NewTokenProps) {
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    if (isBusy) return;
    setBusy(true);
    const token = await post<CreatedToken>("/api/tokens", askedToken(new FormData(form)));
    setBusy(false);
    if (token === null) return;
    form.reset();
    onCreated(token);
  };
  return (
    <form
      class="new-token"
      id="new-token"
      method="post"
      action="/dashboard/tokens"
      onSubmit={(event) => void submit(event)}
    >
      <label>
        Name
        <input class="filter" name="name" required maxLength={40} pattern="[a-z0-9][a-z0-9_.\-]*" />
      </label>
      <fieldset>
        <legend>Scopes</legend>
        {scopes.map((scope) => (
          <label class="toggle" key={scope}>
            <input type="checkbox" name={scope} value="true" defaultChecked={scope === "read"} />{" "}
            <span>
              <strong>{scope}</strong> <span class="muted">{scopeWords[scope]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <label>
        Only these agents
        <input
          class="filter"
          name="agents"
          list="agent-names"
          placeholder="all; or names with commas"
        />
      </label>
      <datalist id="agent-names">
        {agentNames.map((name) => (
          <option value={name} key={name} />
        ))}
      </datalist>
      <label>
        Days until it expires
        <input
          class="filter"
          name="days"
          type="number"
          required
          min={1}
          max={tokenLimits.maxDays}
          defaultValue={String(tokenLimits.defaultDays)}
        />
      </label>
      <button class="button primary" type="submit" aria-busy={isBusy ? "true" : undefined}>
        Create
      </button>
    </form>
  );
}

/** The body of `POST /api/tokens` for a form's fields. */
export function askedToken(form: { get(name: string): unknown }) {
  const text = (name: string): string => {
    const value = form.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  const agents = text("agents")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  return {
    name: text("name"),
    scopes: scopes.filter((scope) => form.get(scope) === "true"),
    agents: agents.length === 0 ? null : agents,
    days: Number(text("days")),
  };
}
