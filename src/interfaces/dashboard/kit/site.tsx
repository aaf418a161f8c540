import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { SchedulerStatus } from "../../../../streams/status/wire.ts";
import { connection, followStatus, scheduler, watchWhileHidden } from "../live/status.ts";
import { useStore } from "../live/store.ts";
import type { ReadDocument } from "../live/use-document.ts";
import { announced, dismiss, toasts } from "../live/toasts.ts";
import { clockTime, joined } from "../text/format.ts";
import { Icon } from "./icon.tsx";
import { alertIcon, calmIcon, Mark } from "./mark.tsx";
import { Palette } from "./palette.tsx";
import { Unread } from "./panel.tsx";
import { useDialog } from "./dialog.tsx";
import { usePause } from "./pause.tsx";
import { Shortcuts } from "./shortcuts.tsx";

/** Data that each page in the frame is rendered with. */
export interface Frame {
  readonly scheduler: SchedulerStatus;
  readonly agentNames: readonly string[];
}

interface SiteProps {
  readonly frame: Frame;
  /** Begins the tab's title; null on the overview. */
  readonly title: string | null;
  /** The heading, if it is not the title; null for a page whose content has it. */
  readonly heading?: ComponentChildren;
  /** Beside the heading: how much there is. */
  readonly total?: ComponentChildren;
  /** Further parts of the heading's line. */
  readonly head?: ComponentChildren;
  /** Documents without which the page can't be shown. */
  readonly documents?: readonly ReadDocument<unknown>[];
  /** The current page; null for a page outside the navigation. */
  readonly current: (typeof pages)[number][0] | null;
  /** True for a separate page that belongs to `current`. */
  readonly isBelow?: boolean;
  /** True for a page as high as the screen, in which a box scrolls. */
  readonly fillsScreen?: boolean;
  readonly children: ComponentChildren;
}

/** Styles of the frame. */
export const frameStyles = ["site", "rail", "parts", "dialog", "palette", "stale", "toast"];

const pages = [
  ["agents", "/dashboard", "Agents", "a"],
  ["triggers", "/dashboard/triggers", "Triggers", "t"],
  ["search", "/dashboard/search", "Search", "s"],
  ["cost", "/dashboard/cost", "Cost", "c"],
  ["questions", "/dashboard/questions", "Questions", "q"],
  ["alerts", "/dashboard/alerts", "Alerts", "l"],
  ["audit", "/dashboard/audit", "Audit trail", "u"],
  ["tokens", "/dashboard/tokens", "API tokens", "k"],
] as const;

/** The frame of a page: navigation, the connection, errors and warnings of the project, and the logout. */
export function Site(props: SiteProps) {
  const { title, heading = title, total, current, isBelow = false, fillsScreen = false } = props;
  const now = useScheduler(props.frame);
  const pause = usePause(now);
  const [keys, palette] = [useDialog(), useDialog()];
  useEffect(() => {
    followStatus();
    watchWhileHidden();
  }, []);
  useEffect(() => showTab(title, now), [title, now]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <nav class="pages" aria-label="Pages">
        <a class="brand" href="/dashboard" title={now.project} aria-label="Almanac: all agents">
          <Mark />
        </a>
        {pages.map(([name, address, words]) => (
          <a
            class={name}
            href={address}
            key={name}
            title={words}
            aria-current={name !== current ? undefined : isBelow ? "true" : "page"}
          >
            <Icon name={name} />
            <span class="visually-hidden">{words} </span>
            {name === "alerts" && (
              <Count
                id="alert-count"
                tone="error"
                count={alertsOf(now)}
                words="open or undelivered"
              />
            )}
            {name === "questions" && (
              <Count id="question-count" tone="asking" count={now.questions} words="open" />
            )}
          </a>
        ))}
        <button
          type="button"
          title="Keyboard shortcuts and help"
          aria-label="Keyboard shortcuts and help"
          onClick={keys.open}
        >
          <Icon name="help" />
        </button>
      </nav>
      <header class="site">
        <a class="project" href="/dashboard" id="project">
          {now.project}
        </a>
        <ConnectionState />
        <div class="site-end">
          <button class="button jump" type="button" onClick={palette.open}>
            <Icon name="search" /> <span>Jump to…</span> <kbd>{jumpKeys()}</kbd>
          </button>
          {pause.button}
          <a class="button" href="/logout">
            Logout
          </a>
        </div>
      </header>
      <main id="main" class={fillsScreen ? "fills-screen" : "page"}>
        <Lost />
        {pause.notice}
        <Notice kind="error" id="config-error" text={now.error} />
        <Notice kind="warning lines" id="config-warnings" text={now.warnings.join("\n")} />
        {heading !== null && (
          <div class="page-title">
            <h1>{heading}</h1>
            {total !== undefined && (
              <span class="muted" id="total" role="status">
                {total}
              </span>
            )}
            {props.head}
          </div>
        )}
        <Unread documents={props.documents ?? []} />
        {props.children}
      </main>
      {!fillsScreen && (
        <footer class="muted" id="version">
          Almanac {now.version} · <a href="/openapi.json">API description</a> ·{" "}
          <a href="/dashboard/words">Words</a>
        </footer>
      )}
      {pause.dialog}
      <Shortcuts pages={pages} {...keys} jump={palette.open} />
      <Palette pages={pages} agentNames={props.frame.agentNames} pause={pause} {...palette} />
      <Toasts />
    </>
  );
}

/** The server does not know the reader's keyboard; a text that differs is corrected. */
function jumpKeys(): string {
  return typeof navigator !== "undefined" && navigator.userAgent.includes("Mac") ? "⌘K" : "Ctrl K";
}

/** The state of the scheduler. */
export function useScheduler({ scheduler: first }: Frame): SchedulerStatus {
  const now = useStore(scheduler);
  return now ?? first;
}

interface NoticeProps {
  readonly kind: string;
  readonly id?: string;
  /** Null or empty hides it. */
  readonly text: string | null;
  readonly children?: ComponentChildren;
}

/** A message above a page's content. It stays in the page while hidden, so that screen readers follow it. */
export function Notice({ kind, id, text, children }: NoticeProps) {
  return (
    <p class={`notice ${kind}`} id={id} role="status" hidden={text === null || text === ""}>
      {text}
      {children}
    </p>
  );
}

function alertsOf({ alerts }: SchedulerStatus): number {
  return alerts.open + alerts.dead;
}

/** The title of a page's tab; its count is of alerts and questions. */
export function tabTitle(title: string | null, now: SchedulerStatus): string {
  const words = joined([title, now.project, "Almanac"]);
  const count = alertsOf(now) + now.questions;
  return count === 0 ? words : `(${count}) ${words}`;
}

function showTab(title: string | null, now: SchedulerStatus): void {
  document.title = tabTitle(title, now);
  const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  const href = alertsOf(now) === 0 ? calmIcon : alertIcon;
  if (icon !== null && icon.getAttribute("href") !== href) icon.href = href;
}

interface CountProps {
  readonly id: string;
  readonly tone: string;
  readonly count: number;
  /** For screen readers. */
  readonly words: string;
}

/** A number beside a link of the header; hidden at 0. */
function Count({ id, tone, count, words }: CountProps) {
  return (
    <span class={`count ${tone}`} id={id} hidden={count === 0}>
      {count.toLocaleString("en")}
      <span class="visually-hidden"> {words}</span>
    </span>
  );
}

const connectionWords = { connecting: "Connecting", live: "Live", lost: "Not connected" } as const;

function ConnectionState() {
  const { state } = useStore(connection);
  return (
    <span class="connection" id="connection" role="status">
      <span class="dot" />
      <span id="connection-text">{connectionWords[state]}</span>
    </span>
  );
}

function Lost() {
  const { lostAt } = useStore(connection);
  const text =
    lostAt === null
      ? null
      : `The scheduler has not answered since ${clockTime(lostAt)}. ` +
        "Showing the last known state. Trying again …";
  return <Notice kind="warning" id="lost" text={text} />;
}

function Toasts() {
  return (
    <>
      <div id="toasts" role="alert">
        {useStore(toasts).map(({ id, text, next }) => (
          <div class="toast" key={id}>
            <span>
              {text} {next?.href !== undefined && <a href={next.href}>{next.words}</a>}
              {next?.act !== undefined && (
                <button type="button" class="link" onClick={next.act}>
                  {next.words}
                </button>
              )}
            </span>
            <button
              class="toast-close"
              type="button"
              aria-label="Dismiss"
              onClick={() => dismiss((toast) => toast.id === id)}
            >
              ×
            </button>
          </div>
        ))}
      </div>
      <div id="announcer" class="visually-hidden" role="status">
        {useStore(announced)}
      </div>
    </>
  );
}
