import type { CreatedToken } from "../../features/tokens/token-report.ts";
import type { ComponentChildren, VNode } from "preact";
import type { Problem } from "../../foundation/errors.ts";
import { Mark } from "./kit/mark.tsx";
import type { Markdown } from "./kit/markdown.tsx";
import type { Document } from "./send-page.tsx";
import { agentAddress, logAddress } from "./text/addresses.ts";
import type { QuestionView } from "../../foundation/contracts/question-views.ts";
import { formOfLink } from "../../foundation/contracts/questions.ts";
import { Question } from "./runs/question.tsx";

/** A document without the dashboard's frame; with `remember`, its script redirects to the private host. */
function cardPage(title: string, card: VNode, data: Partial<Move> = {}): Document {
  const { host, path, remember } = data;
  const body = (
    <main class="card-page" data-host={host} data-path={path} data-remember={remember}>
      {card}
    </main>
  );
  const document = { title: `${title} · Almanac`, styles: ["card", "questions", "changes"], body };
  return remember === undefined ? document : { ...document, script: "private-host" };
}

/** Target of the opening page's script, and the name by which the browser remembers the host. */
interface Move {
  readonly host: string;
  readonly path: string;
  readonly remember: string;
}

interface CardProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

function Card({ title, children }: CardProps) {
  return (
    <div class="card">
      <Mark />
      <h1>{title}</h1>
      {children}
    </div>
  );
}

/** The page of words. Its Markdown, which begins with the title, is shown with a component that no start loads. */
export function wordsPage(Text: typeof Markdown, text: string): Document {
  const card = (
    <div class="card wide">
      <h1>Words</h1>
      <Text text={text.slice(text.indexOf("\n"))} />
      <p class="after">
        <a href="/dashboard">Dashboard</a>
      </p>
    </div>
  );
  return { ...cardPage("Words", card), styles: ["card", "markdown"] };
}

/** Why a person sees the page again: an error such as a wrong key, or a warning. */
export interface LoginMessage {
  readonly kind: "error" | "warning";
  readonly text: string;
}

interface LoginOptions {
  /** The address after the login, already made safe. */
  readonly next: string;
  readonly message: LoginMessage | null;
  /** Key under which the browser remembers the private host. */
  readonly remember: string;
}

/** The login page. */
export function loginPage({ next, message, remember }: LoginOptions): Document {
  return cardPage(
    "Log in",
    <form class="card" method="post" action="/login">
      <Mark />
      <h1>Log in to Almanac</h1>
      <p class="muted">Paste the gateway’s API key.</p>
      {message !== null && (
        <p class={`notice ${message.kind}`} role="alert" id="message">
          {message.text}
        </p>
      )}
      <input type="hidden" name="next" value={next} />
      <input type="text" name="username" value="almanac" autocomplete="username" hidden />
      <label for="key">API key</label>
      <input
        id="key"
        name="key"
        type="password"
        required
        autofocus
        autocomplete="current-password"
        spellcheck={false}
        aria-describedby={message === null ? "hint" : "message hint"}
      />
      <button class="button primary" type="submit">
        Log in
      </button>
      <p class="muted hint" id="hint">
        Run <code>al open</code> on the scheduler’s machine to log in without a key, or{" "}
        <code>al doctor --show-key</code> to print it.
      </p>
    </form>,
    { remember },
  );
}

/** The page that a browser shows for a moment after a login, on its way to `home`. */
export function openingPage(home: string, move?: Move): Document {
  return cardPage(
    "Opening the dashboard",
    <Card title="Opening the dashboard …">
      <p class="after">
        <a href={home}>Open it now</a>
      </p>
    </Card>,
    move,
  );
}

/** The page of a new API token for a browser without script; the only one with its secret. */
export function newTokenPage({ name, token }: CreatedToken): Document {
  return cardPage(
    "New API token",
    <Card title={`The API token ${name}`}>
      <p class="muted">Copy it now: it is not stored, and not shown again.</p>
      <p>
        <code>{token}</code>
      </p>
      <p class="after">
        <a href="/dashboard/tokens">Back to the API tokens</a>
      </p>
    </Card>,
  );
}

/** Shown in place of a page that can't be shown. */
export function errorPage({ status, message }: Problem): Document {
  const title = status === 404 ? "Page not found" : "Something went wrong";
  return cardPage(
    title,
    <Card title={title}>
      <p class="muted">{message}</p>
      <p class="after">
        <a href="/dashboard">Back to the dashboard</a>
      </p>
    </Card>,
  );
}

/** The page instead of a run that is not in the history: its id is mistyped, or retention deleted it. */
export function missingRunPage(agent: string, instanceId: string): Document {
  return cardPage(
    "No such run",
    <Card title="No such run">
      <p class="muted">
        The history has no run <code>{instanceId}</code>. Old runs are deleted; their log lines may
        be kept longer.
      </p>
      <p class="after">
        <a href={logAddress(agent, instanceId)}>Look for it in the log</a>
      </p>
      <p class="after">
        <a href={agentAddress(agent)}>Runs of {agent}</a>
      </p>
    </Card>,
  );
}

/** The page of an answer link; `problem` is about an answer that was refused. */
export function answerPage(question: QuestionView, action: string, problem = ""): Document {
  const form = formOfLink(question);
  const hasLess = question.state === "open" && form !== question.form;
  return cardPage(
    `Question of ${question.agent}`,
    <Card title={`${question.agent} asks`}>
      <p class="notice error" role="alert" hidden={problem === ""}>
        {problem}
      </p>
      <Question question={{ ...question, form }} action={action} />
      <p class="sub muted" hidden={!hasLess}>
        To allow it permanently, answer on the dashboard's page Questions or with{" "}
        <code>al answer</code>.
      </p>
    </Card>,
  );
}
